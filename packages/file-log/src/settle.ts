/**
 * Makes a found tail durable before anything is built on it (events-and-recovery.md, resume, 3). What a crashed writer
 * left may exist only in the page cache, and after its failed sync the kernel may hold those pages for clean: so the
 * last batch is written again in place, with the same bytes, and synced. The directory entries may never have been
 * synced either.
 */
import { SessionError } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'
import { attempt } from './io-error.ts'
import type { LogTail } from './log-codec.ts'
import type { WriterPlace } from './log-writer.ts'
import { readInto } from './read-bytes.ts'
import { writeFully } from './write-bytes.ts'

const STEP_BYTES = 1024 * 1024

/** Resolves with the length of the log, every byte of which is now durable. A missing terminator is restored. */
export async function settleTail(
  { fs, layout, codec, name, durable }: WriterPlace,
  path: string,
  identity: string,
  tail: LogTail,
): Promise<number> {
  // Not the append handle: on one opened with O_APPEND a positional write still goes to the end.
  const file = await attempt('open the log to settle it', path, () => fs.open(path, 'patch'))
  try {
    const stat = await attempt('look at the log', path, () => file.stat())
    const junk = tail.terminated ? 0 : 1
    if (stat.identity !== identity || stat.size < tail.end || stat.size > tail.end + junk) {
      throw new SessionError('CONFLICT', 'the log changed since it was opened', {
        path,
        expected: tail.end,
        found: stat.size,
      })
    }
    if (durable) await rewriteInPlace(file, path, tail.lastBatch?.offset ?? 0, tail.end)
    let length = tail.end
    if (!tail.terminated && codec.terminator !== undefined) {
      const terminator = Buffer.from([codec.terminator])
      await attempt('end the last record', path, () => writeFully(file, terminator, tail.end))
      length++
    }
    if (durable) {
      await attempt('sync the log', path, () => file.sync())
      // A rewrite may have put this very file in place, and its writer died before that was on the medium.
      const directory = layout.directory(name)
      await attempt('sync the session directory', directory, () => fs.syncDirectory(directory))
      await attempt('sync the root', layout.root, () => fs.syncDirectory(layout.root))
    }
    return length
  } finally {
    await file.close().catch(() => {})
  }
}

async function rewriteInPlace(file: OpenFile, path: string, from: number, end: number): Promise<void> {
  const step = Buffer.allocUnsafe(Math.min(STEP_BYTES, end - from))
  for (let at = from; at < end; ) {
    const part = step.subarray(0, Math.min(step.length, end - at))
    const count = await readInto(file, path, part, at)
    if (count < part.length)
      throw new SessionError('CONFLICT', 'the log shrank while it was settled', { path, offset: at })
    await attempt('write the last batch again', path, () => writeFully(file, part, at))
    at += count
  }
}
