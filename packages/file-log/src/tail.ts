/**
 * Finds the end of a log by reading backwards from the end of the file: its last complete batch, and whether what
 * follows is nothing, torn, or damage (events-and-recovery.md, physical tail). The cost is that of the last batch,
 * whatever the length of the log.
 */
import { SessionError } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'
import type { LogCodec, LogDialect, LogTail } from './log-codec.ts'
import { byteSource, readBytes, readInto } from './read-bytes.ts'

const FIRST_WINDOW_BYTES = 64 * 1024
const GROWTH = 4
const STEP_BYTES = 1024 * 1024

/** CORRUPT when there is no telling where the last batch ends within the largest size that a batch may have. */
export async function findTail(
  file: OpenFile,
  path: string,
  size: number,
  codec: LogCodec,
  dialect: LogDialect,
): Promise<LogTail> {
  if (dialect.tail.kind === 'source') return await dialect.tail.find(byteSource(file, path, size))
  const contentEnd = await trimNuls(file, path, size, codec, dialect)
  // The last batch, a torn one behind it, and the unit before it.
  const most = 2 * codec.batchBytesMax + codec.unitBytesMax
  for (let length = FIRST_WINDOW_BYTES; ; length *= GROWTH) {
    const offset = Math.max(dialect.dataStart, contentEnd - length)
    const bytes = await readBytes(file, path, offset, contentEnd - offset)
    if (bytes.length < contentEnd - offset) throw changed(path, offset)
    const tail = dialect.tail.read({ bytes, offset, size, whole: offset === dialect.dataStart })
    if (tail !== undefined) return tail
    if (length >= most) throw endless(path, offset, `no complete batch in the last ${most} bytes`)
    // The last byte may end the last unit; what matters is where that starts.
    if (codec.terminator !== undefined && !bytes.subarray(0, -1).includes(codec.terminator)) {
      await requireTerminator(file, path, codec, codec.terminator, dialect.dataStart, offset, contentEnd)
    }
  }
}

/** Offset behind the last byte that is not NUL. */
async function trimNuls(
  file: OpenFile,
  path: string,
  size: number,
  codec: LogCodec,
  dialect: LogDialect,
): Promise<number> {
  let end = size
  let step = 4096
  while (end > dialect.dataStart) {
    const start = Math.max(dialect.dataStart, end - step)
    const bytes = await readBytes(file, path, start, end - start)
    if (bytes.length < end - start) throw changed(path, start)
    let at = bytes.length
    while (at > 0 && bytes[at - 1] === 0) at--
    if (at > 0) return start + at
    end = start
    step = STEP_BYTES
    if (size - end > codec.batchBytesMax)
      throw endless(path, end, `more than ${codec.batchBytesMax} NUL bytes at the end`)
  }
  return end
}

/** Refuses a unit longer than any legal one before it is held in memory. */
async function requireTerminator(
  file: OpenFile,
  path: string,
  codec: LogCodec,
  terminator: number,
  dataStart: number,
  from: number,
  contentEnd: number,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(STEP_BYTES)
  let end = from
  while (end > dataStart) {
    if (contentEnd - end > codec.unitBytesMax) {
      throw endless(path, end, `a record of more than ${codec.unitBytesMax} bytes`)
    }
    const start = Math.max(dataStart, end - STEP_BYTES)
    const part = buffer.subarray(0, end - start)
    if ((await readInto(file, path, part, start)) < part.length) throw changed(path, start)
    if (part.includes(terminator)) return
    end = start
  }
}

function endless(path: string, offset: number, what: string): SessionError {
  return new SessionError('CORRUPT', `the end of the log is damaged: ${what}`, { path, offset })
}

/** The file shrank while it was read. Callers look once more. */
function changed(path: string, offset: number): SessionError {
  return new SessionError('CORRUPT', 'the log shrank while its end was read', { path, offset })
}
