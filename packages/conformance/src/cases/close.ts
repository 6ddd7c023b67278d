import type { AnySessionEvent, EventInput, Session } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectThat } from '../expectation.ts'
import { appendEach, storedEvents, withoutResumed } from '../stored-events.ts'
import { plainMessage, turnEvents } from '../workload.ts'

const place = { turn: 1, step: 1 }

/** A turn cut off in mid-answer, with text, reasoning and half a call streamed. */
export const HALF_AN_ANSWER: readonly EventInput[] = [
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'user/message', data: { turn: 1, message: plainMessage('user', 'tell me') } },
  { type: 'step/start', data: place },
  { type: 'request/sent', data: { ...place, attempt: 1 } },
  { type: 'assistant/chunk', data: { ...place, kind: 'text', index: 0, text: 'of an older attempt' } },
  { type: 'request/sent', data: { ...place, attempt: 2 } },
  { type: 'assistant/chunk', data: { ...place, kind: 'text', index: 0, text: 'Once upon' } },
  { type: 'assistant/chunk', data: { ...place, kind: 'text', index: 0, text: ' a time' } },
  { type: 'assistant/chunk', data: { ...place, kind: 'tool-arguments', index: 1, callId: 'x', text: '{"half' } },
]

/** A turn with four open calls, one of each tier. */
export const FOUR_OPEN_CALLS: readonly EventInput[] = [
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'user/message', data: { turn: 1, message: plainMessage('user', 'do it') } },
  { type: 'step/start', data: place },
  {
    type: 'assistant/message',
    data: {
      ...place,
      message: plainMessage('assistant', 'I do it'),
      toolCalls: ['never', 'reads', 'asks', 'writes'].map((callId) => ({ callId, name: callId, arguments: {} })),
    },
  },
  {
    type: 'tool/call',
    data: { ...place, callId: 'writes', name: 'writes', arguments: {}, effect: 'side-effect' },
  },
  {
    type: 'tool/call',
    data: { ...place, callId: 'reads', name: 'reads', arguments: {}, effect: 'idempotent', idempotencyKey: 'k1' },
  },
  { type: 'tool/call', data: { ...place, callId: 'asks', name: 'asks', arguments: {} } },
  { type: 'tool/execution', data: { ...place, callId: 'asks', state: 'external', externalId: 'job-7' } },
]

/** The tiers of {@link FOUR_OPEN_CALLS} in transcript order. */
export const FOUR_TIERS: readonly (readonly [string, string])[] = [
  ['never', 'not-started'],
  ['reads', 'safe-to-retry'],
  ['asks', 'reconcile'],
  ['writes', 'outcome-unknown'],
]

export const CLOSE_CASES: readonly ConformanceCase[] = casesOf('CLOSE', {
  1: {
    title:
      'closeTurn closes, in order, every open call, the compaction, the step and the turn, and is durable when it resolves.',
    why: 'What stays open makes the next request invalid.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      appendEach(session, FOUR_OPEN_CALLS)
      session.append('compaction/start', { ...place, compactionId: 'c' })
      const before = session.nextSeq
      await session.closeTurn({ reason: { kind: 'cancelled', cause: 'user' } })
      const closers = (await storedEvents(persistence, 's')).slice(before)
      expectEqual(
        closers.map(({ type }) => type),
        ['tool/result', 'tool/result', 'tool/result', 'tool/result', 'compaction/end', 'step/end', 'turn/end'],
        'types of the closers stored',
      )
      expectEqual(closers.at(-1)?.data, { turn: 1, reason: { kind: 'cancelled', cause: 'user' } }, 'turn/end')
      expectEqual([session.openTurn, session.openCalls()], [undefined, []], 'open turn and calls')
      appendEach(session, turnEvents(2))
    },
  },
  2: {
    title:
      'Every open call gets one synthetic result, in transcript order, with the tier that says what may be assumed.',
    why: 'A blind retry of a side effect does the damage twice.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      appendEach(session, FOUR_OPEN_CALLS)
      expectEqual(
        session.openCalls().map(({ callId, tier }) => [callId, tier]),
        FOUR_TIERS,
        'tiers of the open calls',
      )
      await session.closeTurn({ reason: { kind: 'failed', error: { message: 'x' } } })
      const results = resultsOf(await storedEvents(persistence, 's'))
      expectEqual(
        results.map(({ callId, synthetic }) => [callId, synthetic?.tier]),
        FOUR_TIERS,
        'tiers of the results',
      )
      expectEqual(results[1]?.synthetic?.idempotencyKey, 'k1', 'idempotency key of the retryable call')
      expectEqual(results[2]?.synthetic?.externalId, 'job-7', 'external id of the call to reconcile')
      for (const { message } of results) expectThat(message !== undefined, 'a synthetic result has no message')
    },
  },
  3: {
    title:
      'The text of an unfinished answer is kept as an interrupted message: of the newest request only, without half-made calls.',
    why: 'The user has seen it; the model must know what it said.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      appendEach(session, HALF_AN_ANSWER)
      await session.closeTurn({ reason: { kind: 'cancelled' } })
      const kept = (await storedEvents(persistence, 's')).filter(({ type }) => type === 'assistant/message')
      expectEqual(kept.length, 1, 'answers kept')
      const data = kept[0]?.data as { interrupted?: boolean; toolCalls: unknown; message: unknown }
      expectEqual([data.interrupted, data.toolCalls], [true, []], 'interrupted and toolCalls')
      const text = JSON.stringify(data.message)
      expectThat(text.includes('Once upon a time'), 'the text is not in the kept message')
      expectThat(!text.includes('older attempt') && !text.includes('half'), 'more than the newest text was kept')
    },
  },
  4: {
    title:
      'No partial answer is kept when the request has its message, when there was no text, or when the caller says so.',
    why: 'Keeping it twice would put words into the model’s mouth.',
    run: async (context) => {
      const persistence = await context.open()
      const answers = async (
        id: string,
        events: readonly EventInput[],
        keepPartialAnswer: boolean,
      ): Promise<number> => {
        const session = await persistence.create({ id })
        appendEach(session, events)
        await session.closeTurn({ reason: { kind: 'cancelled' }, keepPartialAnswer })
        await session.close()
        return (await storedEvents(persistence, id)).filter(({ type }) => type === 'assistant/message').length
      }
      const answered: EventInput = {
        type: 'assistant/message',
        data: { ...place, message: plainMessage('assistant', 'whole'), toolCalls: [] },
      }
      expectEqual(await answers('answered', [...HALF_AN_ANSWER, answered], true), 1, 'answers when it was complete')
      expectEqual(await answers('silent', HALF_AN_ANSWER.slice(0, 4), true), 0, 'answers when nothing was streamed')
      expectEqual(await answers('unwanted', HALF_AN_ANSWER, false), 0, 'answers when the caller wants none')
    },
  },
  5: {
    title: 'A live closeTurn and a recovery after a crash append the same events, but for the reason.',
    why: 'Two ways of closing would be two kinds of history.',
    run: async (context) => {
      const persistence = await context.open()
      for (const [name, events] of Object.entries({ FOUR_OPEN_CALLS, HALF_AN_ANSWER })) {
        const live = await persistence.create({ id: `live-${name}` })
        appendEach(live, events)
        await live.closeTurn({ reason: { kind: 'completed' } })
        await live.close()
        const crashed = await persistence.create({ id: `crashed-${name}` })
        appendEach(crashed, events)
        await crashed.close()
        const resumed = await persistence.resume(`crashed-${name}`)
        await resumed.close()
        const [a, b] = [await storedEvents(persistence, live.id), await storedEvents(persistence, crashed.id)]
        expectEqual(withoutResumed(b).map(withoutReason), a.map(withoutReason), `closers of ${name}`)
      }
    },
  },
  6: {
    title: 'closeTurn with nothing open appends nothing.',
    why: 'Shutdown code calls it whether or not a turn is open.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      appendEach(session, turnEvents(1))
      await session.closeTurn({ reason: { kind: 'completed' } })
      await session.closeTurn({ reason: { kind: 'completed' } })
      expectEqual(session.nextSeq, turnEvents(1).length, 'nextSeq')
    },
  },
})

interface ResultData {
  readonly callId: string
  readonly message: unknown
  readonly synthetic?: { readonly tier: string; readonly idempotencyKey?: string; readonly externalId?: string }
}

function resultsOf(events: readonly AnySessionEvent[]): readonly ResultData[] {
  return events.filter(({ type }) => type === 'tool/result').map(({ data }) => data as ResultData)
}

/** Type and data, with the words of synthetic results and the reason of the end left out. */
function withoutReason({ seq, type, data }: AnySessionEvent): unknown {
  if (type === 'turn/end') return { seq, type }
  if (type === 'tool/result') return { seq, type, synthetic: (data as ResultData).synthetic }
  return { seq, type, data }
}

/** Used by the recovery cases: the session is left as a crash would leave it. */
export async function leaveUnfinished(session: Session, events: readonly EventInput[]): Promise<void> {
  appendEach(session, events)
  await session.flush()
  await session.close()
}
