/**
 * Finds the end of a log by reading backwards from the end of the file: its last complete batch, and whether what
 * follows is nothing, torn, or damage (events-and-recovery.md, physical tail). The cost is that of the last batch,
 * whatever the length of the log.
 */
import { SessionError } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'
import type { LogCodec, LogDialect, LogTail, Window } from './log-codec.ts'
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
  // The last batch, a torn one behind it, and the unit before it.
  const most = 2 * codec.batchBytesMax + codec.unitBytesMax
  let window = await readWindow(file, path, dialect.dataStart, size, FIRST_WINDOW_BYTES)
  if (window.bytes.length === 0) {
    const contentEnd = await skipNuls(file, path, dialect.dataStart, window.offset, size, codec)
    window = await readWindow(file, path, dialect.dataStart, contentEnd, FIRST_WINDOW_BYTES)
  }
  const contentEnd = window.offset + window.bytes.length
  for (let length = FIRST_WINDOW_BYTES; ; ) {
    const { bytes, offset } = window
    const tail = dialect.tail.read({ bytes, offset, size, whole: offset === dialect.dataStart })
    if (tail !== undefined) return tail
    if (length >= most) throw endless(path, offset, `no complete batch in the last ${most} bytes`)
    // The last byte may end the last unit; what matters is where that starts.
    if (codec.terminator !== undefined && !bytes.subarray(0, -1).includes(codec.terminator)) {
      await requireTerminator(file, path, codec, codec.terminator, dialect.dataStart, offset, contentEnd)
    }
    length *= GROWTH
    window = await readWindow(file, path, dialect.dataStart, contentEnd, length)
  }
}

/** The last `length` bytes before `end`, without the NULs at their end. */
async function readWindow(
  file: OpenFile,
  path: string,
  dataStart: number,
  end: number,
  length: number,
): Promise<Window> {
  const offset = Math.max(dataStart, end - length)
  const bytes = await readBytes(file, path, offset, end - offset)
  if (bytes.length < end - offset) throw changed(path, offset)
  return { bytes: bytes.subarray(0, trimmedLength(bytes)), offset }
}

function trimmedLength(bytes: Buffer): number {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return end
}

/** Offset behind the last byte before `from` that is not NUL. */
async function skipNuls(
  file: OpenFile,
  path: string,
  dataStart: number,
  from: number,
  size: number,
  codec: LogCodec,
): Promise<number> {
  const zeros = Buffer.alloc(STEP_BYTES)
  const buffer = Buffer.allocUnsafe(STEP_BYTES)
  let end = from
  while (end > dataStart) {
    const part = buffer.subarray(0, Math.min(STEP_BYTES, end - dataStart))
    if ((await readInto(file, path, part, end - part.length)) < part.length) throw changed(path, end - part.length)
    if (!part.equals(zeros.subarray(0, part.length))) return end - part.length + trimmedLength(part)
    end -= part.length
    if (size - end <= codec.batchBytesMax) continue
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
