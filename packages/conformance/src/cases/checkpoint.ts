import type { ModelContext, Session } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectSameValue, expectThat } from '../expectation.ts'
import { storedEvents } from '../stored-events.ts'
import { plainMessage, REQUEST_HEADER } from '../workload.ts'

/** A session in its first step, ready to send a request. */
function readyToSend(session: Session): ModelContext {
  session.append('request/header', REQUEST_HEADER)
  session.append('turn/start', { turn: 1 })
  session.append('user/message', { turn: 1, message: plainMessage('user', 'hello') })
  session.append('step/start', { turn: 1, step: 1 })
  // Built from what the harness knows, not from the session.
  return { ...REQUEST_HEADER, messages: [plainMessage('user', 'hello')] }
}

export const CHECKPOINT_CASES: readonly ConformanceCase[] = casesOf('CHECKPOINT', {
  1: {
    title: 'A checkpoint of what the log derives appends `request/sent`, numbered by attempt from 1 in each step.',
    why: 'Without it nobody can say what the last request was.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const request = readyToSend(session)
      const receipt = await session.checkpoint(request)
      await session.checkpoint(request)
      expectEqual(receipt.seq, 4, 'seq of the receipt')
      session.append('assistant/message', { turn: 1, step: 1, message: plainMessage('assistant', 'hi'), toolCalls: [] })
      session.append('step/end', { turn: 1, step: 1 })
      session.append('step/start', { turn: 1, step: 2 })
      await session.checkpoint({ ...request, messages: [...request.messages, plainMessage('assistant', 'hi')] })
      const sent = (await storedEvents(persistence, 's')).filter(({ type }) => type === 'request/sent')
      expectEqual(
        sent.map(({ data }) => data),
        [
          { turn: 1, step: 1, attempt: 1 },
          { turn: 1, step: 1, attempt: 2 },
          { turn: 1, step: 2, attempt: 1 },
        ],
        'request/sent events',
      )
    },
  },
  2: {
    title:
      'A request that differs from what the log derives is refused with INVARIANT; nothing is appended, and the session goes on.',
    why: 'A hidden change of the request is a conversation that the log does not hold.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const request = readyToSend(session)
      const changed: Readonly<Record<string, ModelContext>> = {
        'a changed message': { ...request, messages: [plainMessage('user', 'hello!')] },
        'a missing message': { ...request, messages: [] },
        'an added message': { ...request, messages: [...request.messages, plainMessage('user', 'and this')] },
        'another model': { ...request, model: 'model-2' },
        'another system prompt': { ...request, system: 'Be long.' },
        'another config': { ...request, config: { temperature: 1 } },
        'another tool': { ...request, tools: [{ name: 'extra' }] },
      }
      const before = session.nextSeq
      for (const [what, different] of Object.entries(changed)) {
        await expectRefusal(() => session.checkpoint(different), 'INVARIANT', `a checkpoint with ${what}`)
        expectEqual(session.nextSeq, before, `nextSeq after ${what}`)
      }
      await session.checkpoint(request)
      expectEqual(session.nextSeq, before + 1, 'nextSeq after the right request')
    },
  },
  3: {
    title: 'Requests are compared as JSON values: key order does not count, and undefined is absent.',
    why: 'A difference that no provider could see must not stop an agent.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      session.append('request/header', { model: 'm', config: { a: 1, b: 2 } })
      session.append('turn/start', { turn: 1 })
      session.append('user/message', { turn: 1, message: { role: 'user', content: 'x' } })
      session.append('step/start', { turn: 1, step: 1 })
      const request = {
        messages: [{ content: 'x', role: 'user', name: undefined }],
        config: { b: 2, a: 1 },
        model: 'm',
        system: undefined,
      }
      await session.checkpoint(request as unknown as ModelContext)
      expectEqual(session.nextSeq, 5, 'nextSeq')
    },
  },
  4: {
    title: 'After closing and resuming, `lastRequest` is the newest checkpoint’s context, not what came later.',
    why: 'It answers what the model had seen when the process died.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      expectEqual(session.lastRequest(), undefined, 'before any request')
      const request = readyToSend(session)
      const { seq } = await session.checkpoint(request)
      session.append('assistant/message', { turn: 1, step: 1, message: plainMessage('assistant', 'hi'), toolCalls: [] })
      session.append('user/message', { turn: 1, step: 1, message: plainMessage('user', 'more') })
      await session.close()
      const resumed = await (await context.open()).resume('s')
      const last = resumed.lastRequest()
      expectSameValue(last?.context, request, 'context of the last request')
      expectEqual([last?.seq, last?.derived, last?.attempt], [seq, false, 1], 'seq, derived and attempt')
      expectEqual(resumed.messages().length, 3, 'messages of the next request')
    },
  },
  5: {
    title: 'Without a `request/sent`, the last request is what came before the newest answer, marked as derived.',
    why: 'Imported logs have answers and no requests.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      session.append('request/header', REQUEST_HEADER)
      session.append('user/message', { message: plainMessage('user', 'one') })
      session.append('assistant/message', { message: plainMessage('assistant', 'two'), toolCalls: [] })
      session.append('user/message', { message: plainMessage('user', 'three') })
      await session.close()
      const last = (await persistence.inspect('s')).lastRequest()
      expectEqual([last?.derived, last?.seq], [true, 2], 'derived, and seq of the answer')
      expectSameValue(last?.context, { ...REQUEST_HEADER, messages: [plainMessage('user', 'one')] }, 'its context')
    },
  },
  6: {
    title:
      'The model context is the newest request header and the live messages, alike in the writer, a view and a resume.',
    why: 'Three answers to what the model sees next would be two too many.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      readyToSend(session)
      session.append('request/header', { turn: 1, step: 1, model: 'model-2', system: 'New.' })
      const expected: ModelContext = { model: 'model-2', system: 'New.', messages: [plainMessage('user', 'hello')] }
      expectSameValue(session.modelContext(), expected, 'of the writer')
      await session.flush()
      expectSameValue((await persistence.inspect('s')).modelContext(), expected, 'of a view')
      await session.close()
      expectSameValue((await persistence.resume('s')).modelContext(), expected, 'of a resume')
    },
  },
  7: {
    title:
      'beginCall appends exactly one `tool/call`, with its effect and idempotency key, for a call that was asked for.',
    why: 'Recovery decides by it what is safe to run again.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      readyToSend(session)
      const call = { callId: 'a', name: 'write', arguments: { path: 'x' } }
      session.append('assistant/message', { turn: 1, step: 1, message: 'ok', toolCalls: [call] })
      const begun = { turn: 1, step: 1, ...call, effect: 'idempotent', idempotencyKey: 'key-1' } as const
      const before = session.nextSeq
      await session.beginCall(begun)
      const stored = await storedEvents(persistence, 's')
      expectEqual(
        stored.slice(before).map(({ type }) => type),
        ['tool/call'],
        'events appended',
      )
      expectSameValue(stored.at(-1)?.data, begun, 'data of the tool/call')
      expectEqual(
        session.openCalls().map(({ callId, tier }) => [callId, tier]),
        [['a', 'safe-to-retry']],
        'open calls',
      )
      const other = { turn: 1, step: 1, callId: 'never-asked', name: 'write', arguments: {} }
      await expectRefusal(() => session.beginCall(other), 'INVALID_EVENT', 'a call that no answer asked for')
      expectThat(session.nextSeq === before + 1, 'a refused beginCall appended something')
    },
  },
})
