/**
 * A legal log of what could be proven of a damaged one (events-and-recovery.md: `repair` salvages every record that can
 * be proven, and says what is lost). Every proven event keeps its seq, or it is said why it cannot stay:
 *
 * - for each seq that is missing, an ignorable event stands;
 * - where what follows needs the start or the end of a turn or a step that was lost, it is made again in a lost place: it
 *   holds nothing but numbers, and a turn that is ended like that is an interrupted one. So is the result of a call;
 * - an event that cannot follow all the same (the result of a call whose answer is lost) gives its place to a stand-in.
 *
 * So damage takes what it touched and what hangs on that, and nothing behind.
 */
import { isSessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { coreMessageFormats } from '../message-format/core-formats.ts'
import type { MessageFormat } from '../message-format/message-format.ts'
import { LogFold } from '../projection/log-fold.ts'
import type { StorageRepair } from '../storage/session-storage.ts'
import { bridgeTo } from './bridge.ts'

/** Type of the event that stands for one that is lost. */
export const LOST_EVENT_TYPE = 'session-persistence/lost'

const PAGE_EVENTS = 1000
/** Events behind lost places after which nothing is made in those any more. */
const REACH_EVENTS = 1000
/** Events that are made or judged again to make way, in all: hostile numbers must not make a repair endless. */
const EFFORT_MAX = 2_000_000

type Loss = StorageRepair['lost'][number]

export interface SalvageOptions {
  /** False for a log of another format version, whose events are kept as they are. */
  readonly judged: boolean
  /** That of the header: in it the results of calls are made that were lost. */
  readonly messageFormat: string
  /** Those that were given, by name; those of core otherwise. */
  readonly messageFormats?: ReadonlyMap<string, MessageFormat> | undefined
  /** Missing events in all that are believed: a forged seq must not fill the disk. */
  readonly missingMax: number
}

/** Lost places that follow each other. */
interface LostPlaces {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly time: number
}

/** Lost places, and what was found behind them. */
interface Hole {
  /** The fold before them. */
  readonly before: LogFold | undefined
  /** Of the last event before them; undefined at the beginning. */
  readonly time: number | undefined
  readonly from: number
  /** Exclusive. */
  to: number
  /** What was made in the last of them, then what was found. */
  after: AnySessionEvent[]
}

/** One pass over the proven events; another one over the same decides alike. */
export class SalvagedLog {
  /** What is lost, in order. */
  readonly lost: Loss[] = []
  readonly #options: SalvageOptions
  readonly #format: MessageFormat | undefined
  /** After everything that stays. Lost places change nothing in it but the seq. */
  #fold: LogFold | undefined
  #kept = 0
  #seen = 0
  #firstTime: number | undefined
  #time: number | undefined
  /** The newest, while something may still be made in it. Without anything behind it, it is the end of the log. */
  #hole: Hole | undefined
  #misfits: { readonly from: number; to: number; readonly why: string } | undefined
  /** What is decided and was not given out yet: events, and lost places between them. */
  #settled: (AnySessionEvent | LostPlaces)[] = []
  #page: AnySessionEvent[] = []
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

  /** Events of the repaired log, once all pages were taken: stand-ins at its end would stand for nothing. */
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
          this.#reportMisfits()
          this.lost.push(gap(this.#seen, event.seq - 1, isTooMuch))
          if (isTooMuch) beyond = event.seq
          else this.#lose(event.seq)
        }
        if (beyond === undefined) this.#place(event)
        this.#seen = event.seq + 1
        this.#time = event.time
      }
      yield* this.#wholePages()
    }
    yield* this.#end()
    if (beyond !== undefined) {
      const message = 'events that were found behind them are not kept: the original holds them'
      this.lost.push({ message, from: beyond, to: this.#seen - 1 })
    }
  }

  *#end(): Generator<readonly AnySessionEvent[], void, undefined> {
    this.#reportMisfits()
    this.#settle()
    yield* this.#wholePages()
    if (this.#page.length > 0) yield this.#page
  }

  /** Stand-ins are made here, since there may be a million of them. */
  *#wholePages(): Generator<readonly AnySessionEvent[], void, undefined> {
    const settled = this.#settled
    this.#settled = []
    for (const one of settled) {
      for (const event of 'seq' in one ? [one] : standIns(one)) {
        this.#page.push(event)
        if (this.#page.length < PAGE_EVENTS) continue
        yield this.#page
        this.#page = []
      }
    }
  }

  /** Every place up to `to`, exclusive, is a lost one from here on. */
  #lose(to: number): void {
    if (this.#hole !== undefined && this.#hole.after.length === 0) this.#hole.to = to
    else {
      this.#settle()
      this.#hole = { before: this.#fold?.clone(), time: this.#time, from: this.#kept, to, after: [] }
    }
  }

  #place(event: AnySessionEvent): void {
    this.#firstTime ??= event.time
    const why = this.#follow(this.#fold, [event])
    if (why === undefined) {
      if (this.#hole === undefined) this.#settled.push(event)
      else this.#hole.after.push(event)
      if ((this.#hole?.after.length ?? 0) > REACH_EVENTS) this.#settle()
    } else if (!this.#makeWay(event)) {
      if (this.#misfits?.to === event.seq - 1) this.#misfits.to = event.seq
      else {
        this.#reportMisfits()
        this.#misfits = { from: event.seq, to: event.seq, why }
      }
      this.#lose(event.seq + 1)
    }
  }

  /** Makes in the newest lost places what the event needs before it; false where that cannot be. */
  #makeWay(event: AnySessionEvent): boolean {
    const hole = this.#hole
    if (this.#fold === undefined || hole === undefined) return false
    const room = Math.max(0, Math.min(hole.to - hole.from, EFFORT_MAX - this.#effort))
    const made = bridgeTo(event, this.#fold, room, this.#format)
    this.#effort += made?.length ?? room
    if (made === undefined || made.length === 0) return false
    this.#effort += hole.after.length
    const time = hole.time ?? event.time
    const start = hole.to - made.length
    const added = made.map(({ type, data }, index) => ({ seq: start + index, time, type, data }))
    const events = [...added, ...hole.after, event]
    if (this.#follow(hole.before, events) !== undefined) return false
    const names = made.map(({ type }) => type).join(', ')
    const message = `stand-ins without which what follows could not stay: ${names}`
    this.lost.push({ message, from: start, to: hole.to - 1 })
    hole.to = start
    hole.after = events
    return true
  }

  /** Takes these events for the end of the log, if they may follow `before`; otherwise says why not. */
  #follow(before: LogFold | undefined, events: readonly AnySessionEvent[]): string | undefined {
    const seq = events[0]?.seq ?? 0
    // In place where it can be: an event that is refused changes nothing.
    const inPlace = before === this.#fold && before?.nextSeq === seq
    const fold = inPlace ? before : before && new LogFold([], { ...before.content, nextSeq: seq })
    try {
      for (const event of events) fold?.accept(event)
    } catch (error) {
      if (!isSessionError(error)) throw error
      return error.message
    }
    this.#fold = fold
    this.#kept = (events.at(-1)?.seq ?? 0) + 1
    this.#reportMisfits()
    return undefined
  }

  /** Nothing more is made in the newest lost places: stand-ins take what is left of them. */
  #settle(): void {
    if (this.#hole === undefined) return
    const { from, to, after } = this.#hole
    const time = this.#hole.time ?? after[0]?.time
    this.#hole = undefined
    if (time === undefined || after.length === 0) return
    if (from < to) this.#settled.push({ from, to, time })
    for (const event of after) this.#settled.push(event)
  }

  #reportMisfits(): void {
    if (this.#misfits === undefined) return
    const { from, to, why } = this.#misfits
    this.#misfits = undefined
    const what = from === to ? 'an event that cannot' : `${to - from + 1} events that cannot`
    this.lost.push({ message: `${what} follow what was lost (${why})`, from, to })
  }
}

function* standIns({ from, to, time }: LostPlaces): Generator<AnySessionEvent, void, undefined> {
  for (let seq = from; seq < to; seq++) yield { seq, time, type: LOST_EVENT_TYPE, data: {}, ignorable: true }
}

function gap(from: number, to: number, isTooMuch: boolean): Loss {
  const what = from === to ? 'an event is lost' : `${to - from + 1} events are lost`
  const then = isTooMuch
    ? ', more than is believable: the log ends before them'
    : from === to
      ? '; a stand-in takes its place'
      : '; stand-ins take their places'
  return { message: `${what}${then}`, from, to }
}
