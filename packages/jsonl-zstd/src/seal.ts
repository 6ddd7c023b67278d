/**
 * Merging small frames into large ones (formats.md, seal). A frame of one event cannot compress well, and decoding it
 * costs a call; in a large one runs of deltas are packed across batches too. Bytes before the first frame to be merged
 * stay as they are, since their records hold at the same offsets with the same salt.
 */
import { type AnySessionEvent, isPackedRun, type PackedRun, packRuns } from '@session-persistence/core'
import type { ByteSource, SealPlan, Window } from '@session-persistence/file-log'
import { COMMIT_BYTES } from './commit-record.ts'
import { placedCommit } from './commit-search.ts'
import { encodeUnit } from './frame-unit.ts'
import { LineWriter } from './record-lines.ts'
import type { ZstdCodec } from './zstd-codec.ts'

/**
 * Content of a merged frame. Larger ones compress better (of recorded logs 512 KiB save 8 %, 1 MiB 13 %), but a read of
 * the last few events decodes one whole frame (docs/decisions/0008-bytes-of-a-batch.md).
 */
const SEALED_CONTENT_BYTES: number = 256 * 1024
/** A merged frame of at least this is left alone by the next merge. */
const FULL_CONTENT_BYTES = SEALED_CONTENT_BYTES / 2
/** At close: fewer frames than this are not worth another file. */
const CLOSE_FRAMES_MIN = 32
const WINDOW_BYTES = 64 * 1024

/** See `Sealing.plan`: walks back from record to record to the last full merged frame. */
export async function planSeal(
  source: ByteSource,
  dataStart: number,
  salt: number,
  end: number,
  occasion: 'close' | 'asked',
): Promise<SealPlan | undefined> {
  let window: Window = { bytes: Buffer.alloc(0), offset: end }
  let plan: SealPlan = { offset: end, seq: 0, batches: 0 }
  let content = 0
  while (plan.offset > dataStart) {
    const at = plan.offset - COMMIT_BYTES
    if (at < window.offset) {
      const low = Math.max(dataStart, plan.offset - WINDOW_BYTES)
      window = { bytes: await source.read(low, plan.offset - low), offset: low }
    }
    const found = placedCommit(window, at, salt)
    // Damage: it stays for `repair`, and nothing before it is touched.
    if (found === undefined || found.frame < dataStart) return undefined
    const { kind, firstSeq, contentBytes } = found.commit
    if (kind === 'sealed' && contentBytes >= FULL_CONTENT_BYTES) break
    plan = { offset: found.frame, seq: firstSeq, batches: plan.batches + 1 }
    content += contentBytes
  }
  // As many merged frames as there are now, or more, gain nothing.
  const merged = Math.ceil(content / SEALED_CONTENT_BYTES)
  const pays = occasion === 'asked' ? plan.batches > merged : plan.batches >= Math.max(CLOSE_FRAMES_MIN, 2 * merged)
  return pays ? plan : undefined
}

/** See `Sealing.merge`. */
export async function* mergeFrames(
  codec: ZstdCodec,
  salt: number,
  pages: AsyncIterable<readonly AnySessionEvent[]>,
  start: number,
): AsyncGenerator<Buffer, void, undefined> {
  const frame = new FrameBuilder()
  let offset = start
  let open: readonly AnySessionEvent[] = []
  for await (const page of pages) {
    const events = [...open, ...page]
    const records = packRuns(events)
    const held = heldBack(records)
    open = held === 0 ? [] : events.slice(-held)
    for (const record of records) {
      if (seqOf(record) >= (open[0]?.seq ?? Number.POSITIVE_INFINITY)) break
      frame.add(record)
      if (frame.bytes < SEALED_CONTENT_BYTES) continue
      const unit = await encodeUnit(codec, ...frame.take(), salt, offset)
      offset += unit.length
      yield unit
    }
  }
  for (const record of packRuns(open)) frame.add(record)
  if (frame.bytes > 0) yield await encodeUnit(codec, ...frame.take(), salt, offset)
}

function seqOf(record: AnySessionEvent | PackedRun): number {
  return record.seq
}

/** Events at the end that may go on in the next page: a run, or what may become one. */
function heldBack(records: readonly (AnySessionEvent | PackedRun)[]): number {
  const last = records.at(-1)
  if (last === undefined) return 0
  if (isPackedRun(last)) return last.v.length
  let count = 0
  for (let at = records.length - 1; at >= 0 && count < 2; at--, count++) {
    const record = records[at]
    if (record === undefined || isPackedRun(record) || record.type !== 'assistant/chunk') break
  }
  return count
}

class FrameBuilder {
  readonly #lines = new LineWriter()
  #firstSeq = 0
  #events = 0
  #lastTime = 0

  get bytes(): number {
    return this.#lines.length
  }

  add(record: AnySessionEvent | PackedRun): void {
    if (this.#events === 0) this.#firstSeq = record.seq
    this.#lines.add(record)
    this.#events += isPackedRun(record) ? record.v.length : 1
    this.#lastTime = lastTimeOf(record)
  }

  take(): [content: Buffer, { kind: 'sealed'; firstSeq: number; events: number; lastTime: number }] {
    const { firstSeq, events, lastTime } = { firstSeq: this.#firstSeq, events: this.#events, lastTime: this.#lastTime }
    this.#events = 0
    return [this.#lines.take(), { kind: 'sealed', firstSeq, events, lastTime }]
  }
}

function lastTimeOf(record: AnySessionEvent | PackedRun): number {
  return isPackedRun(record) ? record.dt.reduce((time, gap) => time + gap, record.time) : record.time
}
