/**
 * A legal log of what could be proven of a damaged one (events-and-recovery.md: `repair` salvages every record that can
 * be proven, and says what is lost). Every proven event keeps its seq, or it is said why it cannot stay:
 *
 * - for each seq that is missing, an ignorable event stands;
 * - where what follows needs the start or the end of a turn or a step that was lost, it is made again in a lost place: it
 *   holds nothing but numbers, and a turn that is ended like that is an interrupted one. So is the result of a call;
 * - an event that cannot follow all the same (the result of a call whose answer is lost, or may be, or whatever somebody edited so that the grammar
 *   refuses it) gives its place to a stand-in;
 * - a stand-in ends the log where the start of an open call may be lost: without it a resume would call that one never begun.
 *
 * So damage takes what it touched and what hangs on that, and nothing behind.
 */
import { isSessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { BATCH_SIZE_MAX } from '../event/event-bytes.ts'
import { coreMessageFormats } from '../message-format/core-formats.ts'
import type { MessageFormat } from '../message-format/message-format.ts'
import { LogFold } from '../projection/log-fold.ts'
import { type TurnsState, turnsProjection } from '../projection/turns.ts'
import type { StorageRepair } from '../storage/session-storage.ts'
import { BoundedPage, sizeOf } from './bounded-page.ts'
import { bridgeTo } from './bridge.ts'
import { doubtOf } from './doubtful-event.ts'
import { LossReport } from './loss-report.ts'
import { inOrder, type LostPlaces, lastPlaces, type PlaceRange, standIn, standIns } from './lost-places.ts'
import { openCallsOf } from './open-calls.ts'

/** Events behind lost places after which nothing is made in those any more; and what they may take, in UTF-16 units. */
const REACH_EVENTS = 1000
const REACH_SIZE = BATCH_SIZE_MAX
/** Events that are made or judged again to make way, in all: hostile numbers must not make a repair endless. */
const EFFORT_MAX = 2_000_000

export interface SalvageOptions {
  /** False for a log of another format version, whose events are kept as they are. */
  readonly judged: boolean
  /** That of the header: in it the results of calls are made that were lost. */
  readonly messageFormat: string
  /** Those that were given, by name; those of core otherwise. */
  readonly messageFormats?: ReadonlyMap<string, MessageFormat> | undefined
  /** Missing events in all that are believed: a forged seq must not fill the disk. */
  readonly missingMax: number
  /** In order: the last seqs of ranges that another history claimed as well. What comes behind may be of that one. */
  readonly joinedAt?: readonly number[]
  /** Whether something may be lost behind the newest proven event, of which `seen` is the seq after; no by default. */
  readonly isEndLost?: (seen: number) => boolean
}

/** Where something may still be made: lost places, and what stands between and behind them. */
interface Reach {
  /** The fold before the first of them. */
  readonly before: LogFold | undefined
  /** Of the last event before them; undefined at the beginning. */
  readonly time: number | undefined
  /** In order, none empty. */
  lost: PlaceRange[]
  /** In order: what was made in lost places, and what was found. */
  events: AnySessionEvent[]
  /** Of what was found, all in all. */
  size: number
}

/** One pass over the proven events; another one over the same decides alike. */
export class SalvagedLog {
  readonly #report: LossReport = new LossReport()
  readonly #options: SalvageOptions
  readonly #format: MessageFormat | undefined
  /** After everything that stays. Lost places change nothing in it but the seq. */
  #fold: LogFold | undefined
  #kept = 0
  #seen = 0
  #firstTime: number | undefined
  #time: number | undefined
  /** Lost places without anything behind them are the end of the log. */
  #reach: Reach | undefined
  /** Seq of the newest lost place. */
  #lostTo = -1
  /** How many of `joinedAt` lie behind. */
  #joined = 0
  /** What is decided and was not given out yet: events, and lost places between them. */
  #settled: (AnySessionEvent | LostPlaces)[] = []
  readonly #page: BoundedPage = new BoundedPage()
  /** After everything given out, and the time of the last. Unlike the fold it knows of the stand-ins. */
  #turns: TurnsState = turnsProjection.initial()
  #lastTime = 0
  #effort = 0

  constructor(options: SalvageOptions) {
    const { messageFormat, messageFormats } = options
    this.#options = options
    this.#format =
      messageFormats === undefined
        ? coreMessageFormats.find(({ name }) => name === messageFormat)
        : messageFormats.get(messageFormat)
    this.#fold = options.judged ? new LogFold() : undefined
  }

  /** What is lost, in order. */
  get lost(): readonly StorageRepair['lost'][number][] {
    return this.#report.lost
  }

  /** Events of the repaired log, once all pages were taken: of the stand-ins at its end one at most, where it tells something. */
  get kept(): number {
    return this.#kept
  }

  /** Behind the last proven event, whether it stays or not. */
  get seen(): number {
    return this.#seen
  }

  /** Time of the first proven event; undefined before it. */
  get firstTime(): number | undefined {
    return this.#firstTime
  }

  /** The repaired log, from proven events in order of seq; what comes a second time is passed over. */
  async *pages(
    proven: AsyncIterable<readonly AnySessionEvent[]>,
  ): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    let missing = 0
    /** First seq behind more lost events than are believed: found, and not kept. */
    let beyond: number | undefined
    for await (const events of proven) {
      for (const event of events) {
        if (event.seq < this.#seen) continue
        if (beyond === undefined && event.seq > this.#seen) {
          missing += event.seq - this.#seen
          const isTooMuch = missing > this.#options.missingMax
          this.#report.gap(this.#seen, event.seq - 1, isTooMuch)
          if (isTooMuch) beyond = event.seq
          else this.#lose(event.seq)
        }
        if (beyond === undefined) this.#place(event)
        this.#seen = event.seq + 1
        this.#time = event.time
      }
      yield* this.#wholePages()
    }
    this.#report.endMisfits()
    if (beyond !== undefined) this.#report.beyond(beyond, this.#seen - 1)
    yield* this.#end()
  }

  *#end(): Generator<readonly AnySessionEvent[], void, undefined> {
    this.#settle()
    yield* this.#wholePages()
    if (this.#hidesStart()) {
      const seq = this.#kept++
      const page = this.#page.add(standIn(seq, this.#lastTime))
      if (page !== undefined) yield page
      this.#report.ended(seq)
    }
    const rest = this.#page.take()
    if (rest.length > 0) yield rest
  }

  /** Whether the start of an open call may be lost, and nothing in the log tells that. */
  #hidesStart(): boolean {
    const open = openCallsOf(this.#turns).filter(({ tier }) => tier === 'not-started')
    if (open.length === 0) return false
    if (this.#options.isEndLost?.(this.#seen) === true) return true
    // All of them were asked for by one answer.
    const { askedAt } = open[0] ?? { askedAt: 0 }
    return this.lost.some(({ to = -1 }) => to > askedAt)
  }

  /** Stand-ins are made here, since there may be a million of them. */
  *#wholePages(): Generator<readonly AnySessionEvent[], void, undefined> {
    const settled = this.#settled
    this.#settled = []
    for (const one of settled) {
      for (const event of 'seq' in one ? [one] : standIns(one)) {
        const page = this.#page.add(event)
        this.#lastTime = event.time
        if (this.#options.judged) this.#turns = turnsProjection.apply(this.#turns, event)
        if (page !== undefined) yield page
      }
    }
  }

  #doubtOf(event: AnySessionEvent): string | undefined {
    if (this.#fold === undefined) return undefined
    const { joinedAt = [] } = this.#options
    for (let next = joinedAt[this.#joined]; next !== undefined && next < event.seq; next = joinedAt[++this.#joined]);
    const breaks = { lostTo: this.#lostTo, joinedTo: joinedAt[this.#joined - 1] ?? -1 }
    return breaks.lostTo === -1 && breaks.joinedTo === -1 ? undefined : doubtOf(event, this.#fold, breaks)
  }

  /** Every place up to `to`, exclusive, is a lost one from here on. */
  #lose(to: number): void {
    this.#lostTo = to - 1
    this.#reach ??= { before: this.#fold?.clone(), time: this.#time, lost: [], events: [], size: 0 }
    const last = this.#reach.lost.at(-1)
    if (last !== undefined && last.from >= this.#kept) last.to = to
    else this.#reach.lost.push({ from: this.#kept, to })
  }

  #place(event: AnySessionEvent): void {
    this.#firstTime ??= event.time
    const doubt = this.#doubtOf(event)
    const why = doubt ?? this.#follow(this.#fold, [event])
    if (why === undefined) {
      if (this.#reach === undefined) this.#settled.push(event)
      else this.#reachOver(this.#reach, event)
    } else if (doubt !== undefined || !this.#makeWay(event)) {
      this.#report.misfit(event.seq, why)
      this.#lose(event.seq + 1)
    }
  }

  #reachOver(reach: Reach, event: AnySessionEvent): void {
    reach.events.push(event)
    reach.size += sizeOf(event)
    if (reach.events.length > REACH_EVENTS || reach.size > REACH_SIZE) this.#settle()
  }

  /** Makes in the last of the lost places what the event needs before it; false where that cannot be. */
  #makeWay(event: AnySessionEvent): boolean {
    const reach = this.#reach
    if (this.#fold === undefined || reach === undefined) return false
    const places = reach.lost.reduce((sum, { from, to }) => sum + to - from, 0)
    const room = Math.max(0, Math.min(places, EFFORT_MAX - this.#effort))
    const made = bridgeTo(event, this.#fold, room, this.#format)
    this.#effort += made?.length ?? room
    if (made === undefined || made.length === 0) return false
    this.#effort += reach.events.length
    const { taken, left } = lastPlaces(reach.lost, made.length)
    const events = inOrder(made, taken, reach.events, reach.time ?? event.time)
    if (this.#follow(reach.before, [...events, event]) !== undefined) return false
    reach.lost = left
    reach.events = [...events, event]
    for (const [index, { type }] of made.entries()) this.#report.made(taken[index] ?? 0, type)
    return true
  }

  /** Takes these events for the end of the log, if they may follow `before`; otherwise says why not. */
  #follow(before: LogFold | undefined, events: readonly AnySessionEvent[]): string | undefined {
    // In place where it can be: an event that is refused changes nothing.
    let fold = before
    try {
      for (const event of events) {
        const isShared = fold === before && (before !== this.#fold || events.length > 1)
        if (fold !== undefined && (isShared || fold.nextSeq !== event.seq)) {
          fold = new LogFold([], { ...fold.content, nextSeq: event.seq })
        }
        fold?.accept(event)
      }
    } catch (error) {
      if (!isSessionError(error)) throw error
      return error.message
    }
    this.#fold = fold
    this.#kept = (events.at(-1)?.seq ?? 0) + 1
    this.#report.endMisfits()
    return undefined
  }

  /** Nothing more is made in the lost places: stand-ins take what is left of them. */
  #settle(): void {
    if (this.#reach === undefined) return
    const { lost, events } = this.#reach
    let time = this.#reach.time ?? events[0]?.time ?? 0
    this.#reach = undefined
    let next = 0
    for (const event of events) {
      for (let range = lost[next]; range !== undefined && range.from < event.seq; range = lost[++next]) {
        this.#settled.push({ ...range, time })
      }
      this.#settled.push(event)
      time = event.time
    }
  }
}
