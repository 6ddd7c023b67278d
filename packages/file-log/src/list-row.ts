/** What a listing needs to know of one log: a quick look at both ends, and a careful one where that is not enough. */
import { isSessionError, type SessionError, type SessionHeader } from '@session-persistence/core'
import type { FileSystem } from './file-system.ts'
import { ioError, isExhaustion, isMissing } from './io-error.ts'
import type { Layout } from './layout.ts'
import type { LogCodec } from './log-codec.ts'
import { corruptError, located, takeSnapshot } from './log-snapshot.ts'
import { readLongId } from './long-id.ts'
import { readIntoSync } from './read-bytes.ts'
import { decodeSessionName, isLongSessionName } from './session-name.ts'

/** Holds the whole of a short log: one call instead of three, and copying a little more costs next to nothing. */
const HEAD_BYTES = 16 * 1024
/** Holds the last batch of most logs. */
const TAIL_BYTES = 4096
/** Holds the last batch of nearly all. */
const LONG_TAIL_BYTES = 64 * 1024

export interface ListingPlace {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly codec: LogCodec
}

/** One session as far as its order in the listing. */
export interface ListRow {
  readonly name: string
  readonly id: string
  readonly updatedAt: number | undefined
  readonly events: number | undefined
  readonly bytes: number
  readonly error: SessionError | undefined
}

/** The rest of an entry, read only for the rows of the page. */
export interface ShownRow {
  readonly header: SessionHeader
  readonly summary?: { readonly text: string; readonly crc: string }
}

export class RowReader {
  readonly #place: ListingPlace
  readonly #head: Buffer = Buffer.allocUnsafeSlow(HEAD_BYTES)
  readonly #tail: Buffer = Buffer.allocUnsafeSlow(TAIL_BYTES)
  readonly #longTail: Buffer = Buffer.allocUnsafeSlow(LONG_TAIL_BYTES)

  constructor(place: ListingPlace) {
    this.#place = place
  }

  /** The row, `skip` for what is no session, `look` when only {@link look} can tell. */
  glance(name: string): ListRow | 'skip' | 'look' {
    const { fs, layout, codec } = this.#place
    const id = decodeSessionName(name)
    if (id === undefined) return isLongSessionName(name) ? 'look' : 'skip'
    const path = layout.log(layout.directory(name))
    let descriptor: number
    try {
      descriptor = fs.openSync(path)
    } catch (error) {
      return isMissing(error) ? 'skip' : 'look'
    }
    try {
      // One call: a plain file gives fewer bytes than asked for only at its end.
      const head = this.#head.subarray(0, fs.readSync(descriptor, this.#head, 0))
      let bytes = head.length
      let found: ReturnType<LogCodec['glance']>
      if (bytes < HEAD_BYTES) found = codec.glance(head, head, id, bytes)
      else {
        const stat = fs.fstatSync(descriptor)
        if (stat.kind !== 'file') return 'look'
        bytes = stat.size
        for (const buffer of [this.#tail, this.#longTail]) {
          const count = fs.readSync(descriptor, buffer, Math.max(0, bytes - buffer.length))
          found = codec.glance(head, buffer.subarray(0, count), id, bytes)
          if (found !== undefined || bytes <= buffer.length) break
        }
      }
      if (found === undefined) return 'look'
      return { name, id, updatedAt: found.updatedAt, events: found.events, bytes, error: undefined }
    } catch {
      return 'look'
    } finally {
      fs.closeSync(descriptor)
    }
  }

  /** The row by way of the whole tail; undefined for what is no session. IO when the process is out of handles. */
  async look(name: string): Promise<ListRow | undefined> {
    const { fs, layout, codec } = this.#place
    const directory = layout.directory(name)
    // The name itself stands for an id that cannot be told: such an entry can be seen, though not opened.
    const id = decodeSessionName(name) ?? (isLongSessionName(name) ? this.#longId(name) : undefined)
    if (id === undefined) return undefined
    const damaged = (error: SessionError): ListRow => ({
      name,
      id,
      updatedAt: undefined,
      events: undefined,
      bytes: sizeOf(fs, layout.log(directory)),
      error,
    })
    try {
      const { file, dialect, tail, stat, path } = await takeSnapshot(fs, layout, directory, codec, id)
      await file.close().catch(() => {})
      if (tail.verdict.kind === 'corrupt') throw corruptError(path, id, tail.verdict.damage)
      const { nextSeq: events, lastTime } = tail
      return { name, id, updatedAt: lastTime ?? dialect.header.createdAt, events, bytes: stat.size, error: undefined }
    } catch (error) {
      if (!isSessionError(error)) throw error
      if (error.code === 'NOT_FOUND') return undefined
      // That is not about this session, and a listing without some of its rows would be wrong.
      if (isExhaustion(error)) throw error
      return damaged(error)
    }
  }

  #longId(name: string): string {
    const { fs, layout } = this.#place
    return readLongId(fs, layout.longId(layout.directory(name)), name) ?? name
  }

  /** What is shown of a row that had no error. */
  shown({ name, id, bytes, events }: ListRow): ShownRow | SessionError | undefined {
    const { fs, layout, codec } = this.#place
    const directory = layout.directory(name)
    const path = layout.log(directory)
    let descriptor: number
    try {
      descriptor = fs.openSync(path)
    } catch (error) {
      return isMissing(error) ? undefined : ioError(error, 'open the log', path, { sessionId: id })
    }
    try {
      let head = this.#head.subarray(0, readIntoSync(fs, descriptor, this.#head, 0))
      const isWhole = head.length < HEAD_BYTES
      if (!isWhole && !codec.holdsHeader(head)) {
        const longer = Buffer.allocUnsafe(codec.headerBytesMax)
        head = longer.subarray(0, readIntoSync(fs, descriptor, longer, 0))
      }
      const dialect = located(path, id, () => codec.open(head))
      const { header } = dialect
      if (dialect.receiptCrc === undefined || events === undefined) return { header }
      const tail = isWhole ? head : this.#tailOf(descriptor, bytes)
      // Another length means that the log has grown since it was looked at.
      const crc = (isWhole ? head.length : bytes) === bytes ? dialect.receiptCrc(tail) : undefined
      const text = crc === undefined ? undefined : this.#summary(layout.derived(directory, 'summary'))
      return crc === undefined || text === undefined ? { header } : { header, summary: { text, crc } }
    } catch (error) {
      return ioError(error, 'read the header', path, { sessionId: id })
    } finally {
      fs.closeSync(descriptor)
    }
  }

  #tailOf(descriptor: number, bytes: number): Buffer {
    const { fs } = this.#place
    return this.#tail.subarray(0, readIntoSync(fs, descriptor, this.#tail, Math.max(0, bytes - TAIL_BYTES)))
  }

  /** Undefined when there is none, or none that is short. */
  #summary(path: string): string | undefined {
    const { fs } = this.#place
    let descriptor: number
    try {
      descriptor = fs.openSync(path)
    } catch {
      return undefined
    }
    try {
      const length = readIntoSync(fs, descriptor, this.#longTail, 0)
      return length < LONG_TAIL_BYTES ? this.#longTail.toString('utf8', 0, length) : undefined
    } catch {
      return undefined
    } finally {
      fs.closeSync(descriptor)
    }
  }
}

function sizeOf(fs: FileSystem, path: string): number {
  try {
    return fs.lstatSync(path).size
  } catch {
    return 0
  }
}
