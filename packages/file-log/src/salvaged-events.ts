/** The events of the proven parts of a damaged log, in order of seq: those that stand first, where several claim one place. */
import { type AnySessionEvent, headReceipt, isElided, type StorageRepair } from '@session-persistence/core'
import type { SalvagedSpan } from './salvage-plan.ts'
import { type ScanPage, type ScanSource, scanForward } from './scan-pages.ts'

type Lost = StorageRepair['lost'][number]
type Events = AsyncGenerator<readonly AnySessionEvent[], void, undefined>

interface Repeat {
  readonly span: SalvagedSpan
  readonly from: number
  readonly to: number
}

export class SalvagedEvents {
  readonly #source: ScanSource
  /** By first seq, those that stand first first. */
  readonly #spans: readonly SalvagedSpan[]

  constructor(source: ScanSource, spans: readonly SalvagedSpan[]) {
    this.#source = source
    this.#spans = spans
  }

  /** Every event once; `unread` is told of what was proven and cannot be read all the same. */
  async *once(signal: AbortSignal | undefined, unread: (lost: Lost) => void): Events {
    let next = 0
    for (const span of this.#spans) {
      if (span.lastSeq < next) continue
      for await (const events of this.#eventsOf(span, Math.max(next, span.firstSeq), span.lastSeq, signal, unread)) {
        next = (events.at(-1)?.seq ?? next - 1) + 1
        yield events
      }
    }
  }

  /**
   * Events that are given up because others claim their seqs: somebody joined two logs that went on from one. What merely
   * stands there twice is none of them.
   */
  async rivals(signal: AbortSignal | undefined): Promise<readonly Lost[]> {
    const repeats = this.#repeats()
    if (repeats.length === 0) return []
    const kept = await this.#sumsOf(repeats, signal)
    const rivals: Rival[] = []
    for (const { span, from, to } of repeats) {
      for await (const events of this.#eventsOf(span, from, to, signal, () => {})) {
        for (const event of events) if (kept.get(event.seq) !== sumOf(event)) addTo(rivals, event.seq, span)
      }
    }
    const firstSeqAt = new Map(this.#spans.map(({ offset, firstSeq }) => [offset, firstSeq]))
    return rivals.map((one) => {
      const goesOn = one.to < one.lastSeq || firstSeqAt.get(one.end) === one.to + 1
      return lostTo(one, goesOn && !kept.has(one.to + 1))
    })
  }

  /** Of the events that stay, where others claim their seqs. */
  async #sumsOf(repeats: readonly Repeat[], signal: AbortSignal | undefined): Promise<ReadonlyMap<number, string>> {
    const sums = new Map<number, string>()
    let at = 0
    for await (const events of this.once(signal, () => {})) {
      for (const event of events) {
        // Both are in order; ranges may overlap.
        while ((repeats[at]?.to ?? Number.POSITIVE_INFINITY) < event.seq) at++
        if ((repeats[at]?.from ?? Number.POSITIVE_INFINITY) <= event.seq) sums.set(event.seq, sumOf(event))
      }
    }
    return sums
  }

  /** What of each part repeats seqs of those before it. */
  #repeats(): readonly Repeat[] {
    let next = 0
    return this.#spans.flatMap((span) => {
      const from = span.firstSeq
      const to = Math.min(next - 1, span.lastSeq)
      next = Math.max(next, span.lastSeq + 1)
      return from <= to ? [{ span, from, to }] : []
    })
  }

  async *#eventsOf(
    { offset, end, firstSeq, terminated }: SalvagedSpan,
    from: number,
    to: number,
    signal: AbortSignal | undefined,
    unread: (lost: Lost) => void,
  ): Events {
    const options = { from, to, elideChunks: false }
    for (let start = { offset, seq: firstSeq }; ; ) {
      let stop: ScanPage | undefined
      for await (const page of scanForward({ ...this.#source, end, terminated }, start, options)) {
        signal?.throwIfAborted()
        const events = page.records.filter((record): record is AnySessionEvent => !isElided(record))
        if (events.length > 0) yield events
        if (page.damage !== undefined) stop = page
      }
      if (stop === undefined) return
      if (stop.end === start.offset) {
        unread({
          message: `what was found there cannot be read (${stop.damage?.message})`,
          offset: stop.end,
          bytes: end - stop.end,
        })
        return
      }
      // Each unit is proven alone. That it does not fit the one before it, as a mark of another batch, is no reason to give it up.
      start = { offset: stop.end, seq: stop.position.nextSeq ?? firstSeq }
    }
  }
}

function sumOf(event: AnySessionEvent): string {
  return headReceipt(event).crc
}

/** Events that give way, in a part of the file or several that touch each other. */
interface Rival {
  readonly from: number
  to: number
  readonly offset: number
  /** Where the last of those parts ends, and its last seq. */
  end: number
  lastSeq: number
}

function addTo(rivals: Rival[], seq: number, { offset, end, lastSeq }: SalvagedSpan): void {
  const last = rivals.at(-1)
  const goesOn = last !== undefined && last.to === seq - 1 && (last.end === end || last.end === offset)
  if (goesOn) Object.assign(last, { to: seq, end, lastSeq })
  else rivals.push({ from: seq, to: seq, offset, end, lastSeq })
}

function lostTo({ from, to, offset }: Rival, isKeptBehind: boolean): Lost {
  const what = from === to ? 'another event with the same seq' : `${to - from + 1} other events with the same seqs`
  const where = `stood in what starts at byte ${offset}: those that stood first are kept`
  const then = isKeptBehind ? `; what was written behind, from seq ${to + 1} on, is kept and now follows those` : ''
  return { message: `${what} ${where}${then}`, from, to }
}
