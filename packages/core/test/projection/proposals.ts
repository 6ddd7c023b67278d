// Random next events for a log: mostly well-placed ones, so that logs grow, and now and then one that is off.
import * as fc from 'fast-check'
import type { AnySessionEvent } from '../../src/event/event.ts'
import type { NaiveLog } from './naive-log.ts'

/** Run counts of property tests grow with this. */
export const SCALE: number = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)

const TYPES = [
  'turn/start',
  'turn/end',
  'step/start',
  'step/start',
  'step/end',
  'user/message',
  'user/message',
  'assistant/message',
  'assistant/message',
  'assistant/message',
  'tool/call',
  'tool/call',
  'tool/execution',
  'tool/result',
  'tool/result',
  'tool/result',
  'request/header',
  'request/sent',
  'assistant/chunk',
  'assistant/chunk',
  'surface/remove',
  'compaction/start',
  'compaction/end',
  'session/title',
  'session/labels',
  'session/resumed',
  'todo/write',
  'acme/note',
] as const

/** The shape of a random event; numbers choose among what the log offers at that point. */
export interface Proposal {
  readonly type: (typeof TYPES)[number]
  /** How far the turn and step, or the number that must follow, are off; mostly 0. */
  readonly turnOff: number
  readonly stepOff: number
  readonly placed: boolean
  readonly calls: readonly string[]
  readonly call: number
  readonly effect: number
  readonly replace: boolean
  readonly from: number
  readonly length: number
  readonly sources: boolean
}

const mostly = <T>(value: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 14, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other })

export const proposals: fc.Arbitrary<Proposal[]> = fc.array(
  fc.record({
    type: fc.constantFrom(...TYPES),
    turnOff: mostly(0, fc.integer({ min: -1, max: 1 })),
    stepOff: mostly(0, fc.integer({ min: -1, max: 1 })),
    placed: mostly(true, fc.constant(false)),
    calls: fc.array(fc.constantFrom('a', 'b', 'c', 'd', '__proto__'), { maxLength: 3 }),
    call: fc.nat(5),
    effect: fc.nat(7),
    replace: fc.boolean(),
    from: fc.nat(7),
    length: mostly(0, fc.nat(2)),
    sources: mostly(false, fc.boolean()),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)

const EFFECTS = ['read-only', 'idempotent', 'side-effect', undefined] as const

/** The event that `proposal` means after the events of `log`. */
export function eventFor(log: NaiveLog, proposal: Proposal): AnySessionEvent {
  const seq = log.events.length
  const { type } = proposal
  const live = log.live().map((event) => event.seq)
  const from = live.length - 1 - proposal.from
  const run: [number, number] = [live[from] ?? proposal.from, live[from + proposal.length] ?? proposal.from]
  const isMessage = type.endsWith('/message') || type === 'tool/result'
  const event = {
    seq,
    time: 1_700_000_000_000 + seq,
    type,
    data: dataFor(log, proposal, run),
    ...(isMessage && proposal.replace && proposal.from > 3 && { surface: { replace: run } }),
    ...(proposal.sources && { sources: [[proposal.from, proposal.from + proposal.length] as const] }),
  }
  return event
}

function dataFor(log: NaiveLog, proposal: Proposal, run: readonly [number, number]): unknown {
  const { type, turnOff, stepOff, placed, calls, call, effect } = proposal
  const seq = log.events.length
  const turn = log.openTurn === undefined ? undefined : log.openTurn + turnOff
  const step = log.openStep === undefined ? undefined : log.openStep + stepOff
  const place = placed ? { ...(turn !== undefined && { turn }), ...(step !== undefined && { step }) } : {}
  const message = { role: type, content: `message ${seq}` }
  const candidates = [...log.open.map((one) => one.call), ...log.asked.map((one) => one.call)]
  const chosen = candidates[call % Math.max(1, Math.min(candidates.length, 4))]
  const callId = chosen?.callId ?? calls[0] ?? 'a'
  switch (type) {
    case 'turn/start':
      return { turn: log.turns + 1 + turnOff }
    case 'turn/end':
      return { turn: log.turns + turnOff, reason: { kind: 'completed' } }
    case 'step/start':
      return { turn: log.turns + turnOff, step: log.steps + 1 + stepOff }
    case 'step/end':
      return { turn: log.turns + turnOff, step: log.steps + stepOff }
    case 'assistant/message': {
      const toolCalls = calls.map((id) => ({ callId: id, name: `tool-${id}`, arguments: { seq } }))
      return { ...place, message, toolCalls, usage: { inputTokens: seq, outputTokens: call } }
    }
    case 'tool/result':
      return { ...place, callId, message }
    case 'tool/call': {
      const declared = EFFECTS[effect % EFFECTS.length]
      const key = effect % 2 === 0 ? { idempotencyKey: `key-${seq}` } : {}
      return { ...place, callId, name: `tool-${callId}`, arguments: {}, ...(declared && { effect: declared }), ...key }
    }
    case 'tool/execution':
      return { ...place, callId, state: 'external', ...(effect % 2 === 0 && { externalId: `external-${seq}` }) }
    case 'request/header':
      return { model: `model-${seq}`, system: 'be brief', ...(effect > 3 && { tools: [{ name: 'a' }] }) }
    case 'request/sent':
      return { ...place, attempt: log.attempt + 1 + turnOff }
    case 'assistant/chunk':
      return { ...place, kind: effect % 2 === 0 ? 'text' : 'reasoning', index: call, text: `chunk ${seq} ` }
    case 'surface/remove':
      return { ...place, start: run[0], end: run[1] }
    case 'session/title':
      return { title: `title ${seq}` }
    case 'session/labels':
      return { labels: Object.fromEntries(calls.map((name) => [name, `label ${seq}`])) }
    case 'todo/write':
      return { ...place, todos: [] }
    case 'compaction/end':
      return { ...place, outcome: 'completed' }
    default:
      return { ...place, message }
  }
}

/** The valid log that `steps` lead to: proposals that the model does not allow are left out. */
export function grow(log: NaiveLog, steps: readonly Proposal[]): NaiveLog {
  for (const step of steps) {
    const event = eventFor(log, step)
    if (log.allows(event)) log.events.push(event)
  }
  return log
}
