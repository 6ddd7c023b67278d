/**
 * Snapshots of a fold: a disposable text beside the log, stamped with the receipt of the last event it covers. Whoever
 * reads one compares the receipt with the log, restores, and folds only the events after it.
 */
import { SessionError } from '../errors.ts'
import { checkedText, openCheckedText } from '../event/checked-text.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { Fields } from '../event/json-shape.ts'
import { isOptional, isRecord, isSeq, isString } from '../event/json-shape.ts'
import { losslessCopy } from '../event/lossless-json.ts'
import { isStrayPromise } from '../event/stray-promise.ts'
import { LIMITS } from '../limits.ts'
import type { CoreStates } from './core-states.ts'
import { lastRequestProjection } from './last-request.ts'
import { LogFold } from './log-fold.ts'
import type { Projection } from './projection.ts'
import { refuse } from './saved-state.ts'
import { summaryProjection } from './summary.ts'
import { turnsProjection } from './turns.ts'
import { usageProjection } from './usage.ts'

/** Raise it when the form of the text changes. Others are ignored, not upgraded. */
const SNAPSHOT_VERSION = 1

/** States nest a few levels deeper than the events that they hold. */
const DEPTH_MAX = LIMITS.depth + 16

export interface Snapshot {
  /** The event up to which the log is folded. */
  readonly head: HeadReceipt
  /** A new fold in that state. Its `lastEvent` is undefined. */
  restore(): LogFold
}

/**
 * The text of a snapshot of `fold` at its last event, whose receipt is `head`.
 * @throws SessionError INVARIANT when `head` is not the last event of the fold; INVALID_EVENT, with the projection in the
 * path, when a state is not lossless JSON, since it would come back as another. What a given projection's `save` throws
 * passes through.
 */
export function snapshotText(fold: LogFold, head: HeadReceipt): string {
  const { nextSeq, lastTime, core, given } = fold.content
  if (head.seq !== nextSeq - 1)
    throw new SessionError('INVARIANT', 'a snapshot needs the receipt of its last event', {
      expected: nextSeq - 1,
      found: head.seq,
    })
  const states = [
    saved(turnsProjection, core.turns),
    saved(lastRequestProjection, core.lastRequest),
    saved(usageProjection, core.usage),
    saved(summaryProjection, core.summary),
    ...fold.projections.map((projection, index) => savedGiven(projection, given[index])),
  ]
  return checkedText(
    JSON.stringify({ snapshot: SNAPSHOT_VERSION, seq: head.seq, crc: head.crc, time: lastTime, states }),
  )
}

/**
 * Reads a snapshot for a fold with `projections`. Undefined when anything is wrong or different: another version, a
 * projection that it lacks, damaged or hostile content. Never throws.
 */
export function parseSnapshot(text: string, projections: readonly Projection[]): Snapshot | undefined {
  try {
    const parsed: unknown = JSON.parse(openCheckedText(text) ?? refuse('a checksum'))
    freezeWithin(parsed, DEPTH_MAX)
    if (!isRecord(parsed) || parsed.snapshot !== SNAPSHOT_VERSION) return undefined
    const { seq, crc, time, states } = parsed
    if (!isSeq(seq) || !isString(crc) || !isOptional(time, isTime) || !Array.isArray(states)) return undefined
    const find = stateFinder(states)
    const core: CoreStates = {
      turns: find(turnsProjection),
      lastRequest: find(lastRequestProjection),
      usage: find(usageProjection),
      summary: find(summaryProjection),
    }
    const content = { nextSeq: seq + 1, lastTime: time, core, given: projections.map((one) => find(one)) }
    return { head: { seq, crc }, restore: () => new LogFold(projections, content) }
  } catch {
    return undefined
  }
}

function saved<State>(projection: Projection<State>, state: State): Fields {
  const { name, version, save } = projection
  return { name, version, state: save === undefined ? state : save.call(projection, state) }
}

/** Core states are JSON by construction; what others make is looked at, and a promise in it taken charge of. */
function savedGiven(projection: Projection, state: unknown): Fields {
  const fields = saved(projection, state)
  isStrayPromise(fields.state)
  if (fields.state !== undefined) losslessCopy(fields.state, projection.name)
  return fields
}

function stateFinder(states: readonly unknown[]): <State>(projection: Projection<State>) => State {
  const byName = new Map(states.filter(isRecord).map((one) => [one.name, one]))
  return <State>(projection: Projection<State>): State => {
    const found = byName.get(projection.name)
    if (found?.version !== projection.version) return refuse('a projection')
    return projection.load === undefined ? (found.state as State) : projection.load(found.state)
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}

/**
 * Freezes a parsed value as events are frozen, and refuses one nested deeper than any event: writing it again would
 * overflow the stack. Its own stack, for the same reason.
 */
function freezeWithin(value: unknown, depthMax: number): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) refuse('values')
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      Object.freeze(one)
      for (const inner of Object.values(one)) if (typeof inner === 'object' && inner !== null) next.push(inner)
    }
    level = next
  }
}
