/** A consistent snapshot of one stored log: never locks, never writes. */
import {
  type DerivedDocument,
  isElided,
  type SessionError,
  type SessionHeader,
  type StorageReader,
  type StorageReadRange,
  type StorageTail,
  type StoredRecord,
} from '@session-persistence/core'
import { readDerived } from './derived-document.ts'
import type { FileSystem } from './file-system.ts'
import { waitForChange } from './follow.ts'
import type { Layout } from './layout.ts'
import type { Damage, LogCodec, LogTail, ScanOptions } from './log-codec.ts'
import { corruptError, type LogSnapshot, takeSnapshot } from './log-snapshot.ts'
import { nextUnit } from './next-unit.ts'
import { type ScanPage, type ScanSource, scanBackward } from './scan-pages.ts'
import { scanRange } from './scan-range.ts'
import { type ScanStart, seek } from './seek.ts'

/** Where a reader finds its log. It asks again when it looks twice, since a staged log moves when it is published. */
export interface LogPlace {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly codec: LogCodec
  readonly id: string
  readonly directory: () => string
}

/** Opens a reader. Looks twice before it calls the end of a log corrupt: a writer may be cutting it just now. */
export async function openLogReader(place: LogPlace): Promise<LogReader> {
  const first = await take(place)
  if (first.tail.verdict.kind !== 'corrupt') return new LogReader(place, first)
  await closeQuietly(first)
  return new LogReader(place, await take(place))
}

function take({ fs, layout, codec, id, directory }: LogPlace): Promise<LogSnapshot> {
  return takeSnapshot(fs, layout, directory(), codec, id)
}

/** Closing a file that was only read loses nothing. */
async function closeQuietly({ file }: LogSnapshot): Promise<void> {
  await file.close().catch(() => {})
}

interface Walk extends ScanOptions {
  readonly reverse: boolean
  /** The walk must end where the log does: what stands behind its last event is damage. */
  readonly toEnd: boolean
}

export class LogReader implements StorageReader {
  readonly header: SessionHeader
  readonly tail: StorageTail
  readonly bytes: number
  readonly #place: LogPlace
  readonly #snapshot: LogSnapshot
  #closed = false

  constructor(place: LogPlace, snapshot: LogSnapshot) {
    this.#place = place
    this.#snapshot = snapshot
    this.header = snapshot.dialect.header
    this.tail = storageTail(snapshot.tail)
    this.bytes = snapshot.stat.size
  }

  async *read(range: StorageReadRange): AsyncGenerator<readonly StoredRecord[], void, undefined> {
    const reverse = range.reverse === true
    const from = range.from ?? 0
    range.signal?.throwIfAborted()
    if (range.to !== undefined && range.to < from) return
    const to = Math.min(range.to ?? Number.MAX_SAFE_INTEGER, this.tail.nextSeq - 1)
    // Asked for everything there is: then damage behind the last good batch must not pass for the end.
    const wholeEnd = range.to === undefined || range.to > to
    const elideChunks = range.elideChunks === true && !reverse
    const walk: Walk = { from, to, reverse, elideChunks, toEnd: wholeEnd && !reverse }
    const { verdict, end, lastBatch } = this.#snapshot.tail
    if (verdict.kind !== 'corrupt') return yield* this.#walk(walk, range.signal)
    const { damage } = verdict
    if (damage.offset >= end) {
      // What it hides may have any seq from here on: that of the damage is where it begins.
      if (reverse && wholeEnd) throw this.#corrupt(damage)
      yield* this.#walk(walk, range.signal)
      if (!reverse && wholeEnd) throw this.#corrupt(damage)
      return
    }
    // Before the last batch, which is sound, or in it: a walk forwards meets it. Backwards it has its place in front.
    const place = damage.seq ?? from
    if (!reverse || place < from || place > to) return yield* this.#walk(walk, range.signal)
    yield* this.#walk({ ...walk, from: Math.max(from, lastBatch?.firstSeq ?? from) }, range.signal)
    throw this.#corrupt(damage)
  }

  /**
   * At damage it opens the log again and goes on behind the last good record, once: a writer may have cut and
   * rewritten a tail that was never acknowledged.
   */
  async *#walk(whole: Walk, signal: AbortSignal | undefined): AsyncGenerator<readonly StoredRecord[], void, undefined> {
    let left = whole
    let damaged: ScanPage | undefined
    for await (const page of this.#pages(this.#snapshot, whole, signal)) {
      if (page.records.length > 0) {
        yield page.records
        left = behind(left, page.records)
      }
      if (page.damage !== undefined) damaged = page
    }
    if (damaged === undefined) return
    const again = await take(this.#place)
    try {
      const { nextSeq, verdict } = again.tail
      const rest = { ...left, to: Math.min(left.to, nextSeq - 1), toEnd: left.toEnd && nextSeq === this.tail.nextSeq }
      // A log that ends earlier was cut; one that is damaged there was not.
      const missing = verdict.kind === 'corrupt' && rest.to < left.to ? this.#corrupt(verdict.damage) : undefined
      if (missing !== undefined && left.reverse) throw missing
      for await (const page of this.#pages(again, rest, signal, this.#placeOf(damaged, again, left))) {
        if (page.records.length > 0) yield page.records
        if (page.damage !== undefined) throw this.#corrupt(page.damage)
      }
      if (missing !== undefined) throw missing
    } finally {
      await closeQuietly(again)
    }
  }

  /** In the same file the walk goes on where the damage was: what stands before it is read already. */
  #placeOf({ end, position }: ScanPage, again: LogSnapshot, { reverse }: Walk): ScanStart | undefined {
    if (reverse || position.nextSeq === undefined || again.stat.identity !== this.#snapshot.stat.identity)
      return undefined
    return { offset: end, seq: position.nextSeq }
  }

  async *#pages(
    { file, path, dialect, tail }: LogSnapshot,
    walk: Walk,
    signal: AbortSignal | undefined,
    start?: ScanStart,
  ): AsyncGenerator<ScanPage, void, undefined> {
    signal?.throwIfAborted()
    if (walk.from > walk.to && !walk.toEnd) return
    const { codec } = this.#place
    const source: ScanSource = { file, path, codec, dialect, end: tail.end, terminated: tail.terminated }
    const options = { ...walk, to: walk.toEnd ? Number.MAX_SAFE_INTEGER : walk.to }
    const pages = walk.reverse
      ? scanBackward(source, await this.#endBehind(source, tail, walk.to), options)
      : scanRange(source, start ?? (await seek(file, path, codec, dialect, tail, walk.from)), options)
    for await (const page of pages) {
      signal?.throwIfAborted()
      yield page
      signal?.throwIfAborted()
    }
  }

  /** Offset and seq behind the unit that holds `to`, for a walk backwards. */
  async #endBehind(
    source: ScanSource,
    tail: LogTail,
    to: number,
  ): Promise<{ readonly offset: number; readonly seq: number }> {
    const end = { offset: tail.end, seq: tail.nextSeq }
    if (to + 1 >= tail.nextSeq) return end
    const { file, path, codec, dialect } = source
    const start = await seek(file, path, codec, dialect, tail, to)
    // The scan stops behind the unit that holds `to`.
    for await (const page of scanRange(source, start, { from: to, to, elideChunks: false })) {
      if (page.damage !== undefined) return (await nextUnit(source, page.end + 1)) ?? end
      if (page.position.nextSeq !== undefined && page.position.nextSeq > to) {
        return { offset: page.end, seq: page.position.nextSeq }
      }
    }
    return end
  }

  #corrupt(damage: Damage): SessionError {
    return corruptError(this.#snapshot.path, this.header.id, damage)
  }

  async derived(document: DerivedDocument): Promise<string | undefined> {
    const { fs, layout, directory } = this.#place
    return await readDerived(fs, layout.derived(directory(), document))
  }

  async changed(signal?: AbortSignal): Promise<'changed' | 'deleted'> {
    const { fs, layout, directory } = this.#place
    return await waitForChange(fs, layout.log(directory()), this.#snapshot.stat, signal)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await closeQuietly(this.#snapshot)
  }
}

/** What is left of a walk behind the records that it gave. */
function behind(walk: Walk, records: readonly StoredRecord[]): Walk {
  const last = records.at(-1)
  if (last === undefined) return walk
  if (walk.reverse) return { ...walk, to: last.seq - 1 }
  return { ...walk, from: last.seq + (isElided(last) ? last.count : 1) }
}

export function storageTail({ nextSeq, lastTime, verdict }: LogTail): StorageTail {
  if (verdict.kind !== 'torn') return { nextSeq, lastTime }
  return { nextSeq, lastTime, torn: { offset: verdict.offset, bytes: verdict.bytes } }
}
