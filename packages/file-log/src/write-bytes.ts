/** Writes exact ranges of a file. */
import { SessionError } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'

/**
 * Node gives up on a large write in parts of its own choosing only when a later part failed, and then hides that error
 * (reliability.md, fact 6): a short count is a failure.
 */
export function requireWhole(written: number, wanted: number): void {
  if (written !== wanted) {
    throw new SessionError('IO', `short write: ${written} of ${wanted} bytes`, { expected: wanted, found: written })
  }
}

export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  if (bytes.length === 0) return
  requireWhole(await file.write(bytes, position), bytes.length)
}
