import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { growStoredLog } from '../open-log.ts'
import { appendEach, receiptOf, storedEvents, storeSession } from '../stored-events.ts'
import { waitUntil } from '../wait-until.ts'
import { conversation, EVENTS_PER_TURN, turnEvents } from '../workload.ts'

export const DURABLE_CASES: readonly ConformanceCase[] = casesOf('DURABLE', {
  1: {
    title: 'When flush resolves, everything accepted before the call is stored.',
    why: 'It is the one word that a harness builds on.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      await session.flush()
      expectEqual(await storedEvents(persistence, 's'), events, 'events stored when flush resolved')
    },
  },
  2: {
    title: 'Flush resolves with the head receipt: last durable seq, and CRC-32 of that event as JSON in key order.',
    why: 'A receipt kept elsewhere is the only proof against a suffix that vanished.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      for (const turn of [1, 2, 3]) {
        const events = appendEach(session, turnEvents(turn))
        expectEqual(await session.flush(), receiptOf(events), `receipt of turn ${turn}`)
      }
    },
  },
  3: {
    title: 'durableSeq moves only when events are durable; until then they are in pendingEvents, in order.',
    why: 'A harness decides by it what it may show as saved.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      expectEqual(session.durableSeq, 0, 'durableSeq right after append')
      expectEqual(session.pendingEvents(), events, 'pending events right after append')
      const flushed = session.flush()
      expectThat(session.durableSeq < session.nextSeq, 'durableSeq moved before flush resolved')
      await flushed
      expectEqual(session.durableSeq, events.length, 'durableSeq after flush')
      expectEqual(session.pendingEvents(), [], 'pending events after flush')
    },
  },
  4: {
    title: 'Flushes that run at once all resolve, each with a receipt that covers what was accepted before its call.',
    why: 'A shared barrier must not shorten anybody’s.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const barriers = turnEvents(1).map((event) => {
        const [appended] = appendEach(session, [event])
        return { seq: appended?.seq ?? -1, receipt: session.flush() }
      })
      for (const { seq, receipt } of barriers) {
        expectThat((await receipt).seq >= seq, `a flush called after seq ${seq} resolved before it was durable`)
      }
    },
  },
  5: {
    title: 'Without any flush, accepted events are written in the background within a bounded time.',
    why: 'A harness that never flushes loses a window, not a conversation.',
    run: async (context) => {
      const persistence = await context.open({ writeWindowMs: 20 })
      const session = await persistence.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      const reader = await context.open()
      const written = await waitUntil(async () => {
        const found = await storedEvents(reader, 's').catch(() => [])
        return found.length === events.length
      })
      expectThat(written, 'accepted events were never written')
      expectEqual(await storedEvents(reader, 's'), events, 'events written in the background')
    },
  },
  6: {
    title: 'A flush with nothing pending resolves with the current receipt, also after a resume.',
    why: 'A barrier that fails when there is nothing to do is called with a condition by everybody.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      const session = await persistence.resume('s')
      expectEqual(await session.flush(), receiptOf(events), 'receipt after a resume')
      expectEqual(await session.flush(), receiptOf(events), 'receipt of a second flush')
    },
  },
  7: {
    title: 'The same receipt comes from flush, inspect and verify.',
    why: 'A receipt that depends on who made it proves nothing.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [conversation(2)])
      expectEqual((await persistence.inspect('s')).head, receiptOf(events), 'head of inspect')
      const report = await persistence.verify('s')
      expectEqual(report.head, receiptOf(events), 'head of verify')
      expectEqual([report.ok, report.events, report.problems], [true, events.length, []], 'verify of a sound log')
    },
  },
  8: {
    title: 'A resume with `expectHead` refuses a log that does not hold that event with CORRUPT, and writes nothing.',
    why: 'It is how a replaced or shortened log is noticed.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2).slice(0, 3)])
      const head = receiptOf(events)
      expectThat(head !== undefined, 'the log is empty')
      const flipped = head.crc.startsWith('0') ? `1${head.crc.slice(1)}` : `0${head.crc.slice(1)}`
      const wrong = [
        { ...head, crc: flipped },
        { ...head, seq: head.seq + 5 },
      ]
      for (const expectHead of wrong) {
        await expectRefusal(() => persistence.resume('s', { expectHead }), 'CORRUPT', `a head of seq ${expectHead.seq}`)
        expectEqual(await storedEvents(persistence, 's'), events, 'events after the refusal')
      }
      await (await persistence.resume('s', { expectHead: head })).close()
    },
  },
  9: {
    title:
      'Verify with `expectHead` reports a log that does not hold that event, and accepts an older head of the same log.',
    why: 'Receipts are checked later than they were given.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      appendEach(session, turnEvents(1))
      const older = await session.flush()
      appendEach(session, turnEvents(2))
      const newer = await session.flush()
      await session.close()
      expectThat((await persistence.verify('s', { expectHead: older })).ok, 'an older head was not accepted')
      expectThat((await persistence.verify('s', { expectHead: newer })).ok, 'the newest head was not accepted')
      const missing = { seq: newer.seq + 1, crc: newer.crc }
      const report = await persistence.verify('s', { expectHead: missing })
      expectEqual([report.ok, report.problems[0]?.code], [false, 'CORRUPT'], 'verify with a head beyond the end')
    },
  },
  10: {
    title: 'Checkpoint and beginCall resolve only when their event, and everything before it, is stored.',
    why: 'A tool that ran before its call was durable runs twice after a crash.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      session.append('turn/start', { turn: 1 })
      session.append('user/message', { turn: 1, message: 'hello' })
      session.append('step/start', { turn: 1, step: 1 })
      await session.checkpoint(session.modelContext())
      expectEqual((await storedEvents(persistence, 's')).at(-1)?.type, 'request/sent', 'last event after checkpoint')
      const call = { callId: 'a', name: 'tool', arguments: {} }
      session.append('assistant/message', { turn: 1, step: 1, message: 'ok', toolCalls: [call] })
      await session.beginCall({ turn: 1, step: 1, ...call })
      expectEqual((await storedEvents(persistence, 's')).at(-1)?.type, 'tool/call', 'last event after beginCall')
      expectEqual(session.durableSeq, session.nextSeq, 'durableSeq after beginCall')
    },
  },
  11: {
    title: 'A failed write keeps its events pending and in order, and the failure reaches flush and onFailure.',
    why: 'Silence is the one answer that loses a conversation.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const failures: string[] = []
      const persistence = await context.open({ onFailure: (error) => failures.push(error.code) })
      const { session, meddle } = await growStoredLog(context, persistence, 's')
      const pending = appendEach(session, turnEvents(2))
      await meddle()
      const error = await expectRefusal(
        () => session.flush(),
        ['CONFLICT', 'POISONED'],
        'a flush into a log that somebody changed',
      )
      expectThat(error.message !== '', 'the error has no message')
      expectEqual(session.pendingEvents(), pending, 'pending events after the failed flush')
      expectEqual(session.durableSeq, EVENTS_PER_TURN, 'durableSeq after the failed flush')
      expectThat(failures.length > 0, 'onFailure heard nothing')
      expectEqual(await session.abandon(), pending, 'events that abandon returned')
    },
  },
})
