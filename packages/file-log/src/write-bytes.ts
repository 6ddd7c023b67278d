/** Writes exact ranges of a file. */
import { SessionError } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'

export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  if (bytes.length === 0) return
  await whole(bytes, (part, done) => file.write(part, position + done))
}

/** At the end of a file, for the append modes. */
export async function appendFully(file: OpenFile, bytes: Uint8Array): Promise<void> {
  await whole(bytes, (part) => file.append(part))
}

/**
 * A short count is a failure: Node writes a large buffer in parts, and when a later part failed it hides that error
 * (reliability.md, fact 6), a full disk like a failed sync. The rest is tried once, through the same handle, to learn the
 * error; where it goes through, the error that was hidden still counts.
 */
async function whole(bytes: Uint8Array, write: (part: Uint8Array, done: number) => Promise<number>): Promise<void> {
  const written = await write(bytes, 0)
  if (written === bytes.length) return
  await write(bytes.subarray(written), written)
  throw new SessionError('IO', `short write: ${written} of ${bytes.length} bytes`, {
    expected: bytes.length,
    found: written,
  })
}
