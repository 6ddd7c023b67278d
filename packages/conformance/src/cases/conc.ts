import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { growStoredLog } from '../open-log.ts'
import { appendEach, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import type { WorkerLine, WorkerProcess } from '../worker-process.ts'
import { INTERRUPTED_AFTER_RESULT, turnEvents } from '../workload.ts'
import { FOUR_OPEN_CALLS, leaveUnfinished } from './close.ts'

export const CONC_CASES: readonly ConformanceCase[] = casesOf('CONC', {
  1: {
    title: 'A second writer of a session is refused with LOCKED, through the same handle and through another.',
    why: 'Two windows resumed one session, and its log never loaded again.',
    run: async (context) => {
      const [first, second] = [await context.open(), await context.open()]
      const session = await first.create({ id: 's' })
      const events = [...appendEach(session, turnEvents(1))]
      await session.flush()
      await expectRefusal(() => first.resume('s'), 'LOCKED', 'resume through the same handle')
      await expectRefusal(() => second.resume('s'), 'LOCKED', 'resume through another handle')
      events.push(...appendEach(session, turnEvents(2)))
      await session.flush()
      expectEqual(await storedEvents(second, 's'), events, 'events after refused resumes')
    },
  },
  2: {
    title: 'The lock is free again after close, abandon, a failed resume and the close of the persistence.',
    why: 'A lock that outlives its holder locks the user out.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      await (await persistence.resume('s')).close()
      await (await persistence.resume('s')).abandon()
      const expectHead = { seq: 0, crc: '00000000' }
      await expectRefusal(() => persistence.resume('s', { expectHead }), 'CORRUPT', 'a resume with a wrong head')
      await persistence.resume('s')
      await persistence.close()
      await (await (await context.open()).resume('s')).close()
    },
  },
  3: {
    title: 'Readers are never kept out by a writer.',
    why: 'A list or a viewer is open while the agent works.',
    run: async (context) => {
      const [writer, reader] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      await session.flush()
      for (const handle of [writer, reader]) {
        expectEqual(await storedEvents(handle, 's'), events, 'read')
        expectEqual((await handle.inspect('s')).nextSeq, events.length, 'inspect')
        expectEqual(
          (await handle.list()).sessions.map(({ id }) => id),
          ['s'],
          'list',
        )
        expectThat((await handle.verify('s')).ok, 'verify of a session that is being written')
      }
      appendEach(session, turnEvents(2))
      await session.close()
    },
  },
  4: {
    title: 'Of many resumes at once exactly one wins; the others are LOCKED.',
    why: 'Two windows are opened by one double click.',
    run: async (context) => {
      const handles = await Promise.all(Array.from({ length: 4 }, () => context.open()))
      const [first] = handles
      expectThat(first !== undefined, 'no handle')
      await leaveUnfinished(await first.create({ id: 's' }), FOUR_OPEN_CALLS)
      const outcomes = await Promise.allSettled(handles.flatMap((handle) => [handle.resume('s'), handle.resume('s')]))
      const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
      expectEqual(won.length, 1, 'resumes that won')
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue
        await expectRefusal(() => Promise.reject(outcome.reason), 'LOCKED', 'a resume that lost')
      }
      const types = (await storedEvents(first, 's')).map(({ type }) => type)
      expectEqual(types.filter((type) => type === 'turn/end').length, 1, 'turn/end events')
    },
  },
  5: {
    title: 'Of many creates of one id exactly one is stored, and no event of another is in its log.',
    why: 'Two agents given one id must not share a log.',
    run: async (context) => {
      const handles = await Promise.all(Array.from({ length: 4 }, () => context.open()))
      const outcomes = await Promise.allSettled(
        handles.map(async (handle, index) => {
          const session = await handle.create({ id: 's' })
          const [event] = appendEach(session, [{ type: 'user/message', data: { message: `of ${index}` } }])
          await session.flush()
          return event
        }),
      )
      const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
      expectEqual(won.length, 1, 'creates that won')
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue
        await expectRefusal(() => Promise.reject(outcome.reason), ['LOCKED', 'ALREADY_EXISTS'], 'a create that lost')
      }
      expectEqual(
        await storedEvents(await context.open(), 's'),
        won.map(({ value }) => value),
        'events stored',
      )
    },
  },
  6: {
    title: 'Writers of different sessions do not wait for or disturb each other.',
    why: 'Sub-agents run in parallel.',
    run: async (context) => {
      const persistence = await context.open()
      const sessions = await Promise.all(
        Array.from({ length: 16 }, (_, index) => persistence.create({ id: `s${index}` })),
      )
      const appended = await Promise.all(
        sessions.map(async (session) => {
          const events = [...appendEach(session, turnEvents(1))]
          await session.flush()
          events.push(...appendEach(session, turnEvents(2)))
          await session.close()
          return events
        }),
      )
      for (const [index, session] of sessions.entries()) {
        expectEqual(await storedEvents(persistence, session.id), appended[index], `events of ${session.id}`)
      }
    },
  },
  7: {
    title: 'A second process is refused with LOCKED before it changes anything, and the message names the owner.',
    why: 'The user must learn which window to close.',
    needs: { tier: 'process', capabilities: { exclusion: ['host'] } },
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      const holder = context.spawn({ kind: 'hold', id: 's' })
      expectEqual((await holder.next())?.kind, 'ready', 'the process that holds the session')
      const error = await expectRefusal(
        () => persistence.resume('s'),
        'LOCKED',
        'resume while another process holds it',
      )
      expectThat(error.message.includes(String(holder.pid)), `the message does not name process ${holder.pid}`)
      await expectRefusal(() => persistence.delete('s'), 'LOCKED', 'delete while another process holds it')
      expectEqual(withoutResumed(await storedEvents(persistence, 's')), events, 'events after the refusals')
      await holder.finish()
      await (await persistence.resume('s')).close()
    },
  },
  8: {
    title: 'The lock of a process that was killed is free at once.',
    why: 'A stale lock file after a crash keeps the user out of the session that crashed.',
    needs: { tier: 'process' },
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      for (let round = 0; round < 3; round += 1) {
        const holder = context.spawn({ kind: 'hold', id: 's' })
        expectEqual((await holder.next())?.kind, 'ready', 'the process that holds the session')
        await holder.kill()
        await (await persistence.resume('s')).close()
      }
    },
  },
  9: {
    title: 'Of eight processes that race to resume one crashed session exactly one repairs it, once.',
    why: 'Two processes merely opening a crashed session both wrote closers and destroyed it.',
    needs: { tier: 'process', capabilities: { exclusion: ['host'] }, timeoutMs: 60_000 },
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), INTERRUPTED_AFTER_RESULT)
      const racers = Array.from({ length: 8 }, () => context.spawn({ kind: 'race', id: 's' }))
      for (const racer of racers) expectEqual((await racer.next())?.kind, 'ready', 'a racer')
      for (const racer of racers) racer.go()
      const lines = await Promise.all(racers.map((racer) => racer.next()))
      expectEqual(lines.filter((line) => line?.kind === 'won').length, 1, 'processes that resumed')
      for (const line of lines) expectThat(isWonOrLocked(line), `a racer said ${JSON.stringify(line)}`)
      await Promise.all(racers.map((racer: WorkerProcess) => racer.finish()))
      const types = (await storedEvents(persistence, 's')).map(({ type }) => type)
      expectEqual(types.filter((type) => type === 'turn/end').length, 1, 'turn/end events')
      expectEqual(types.length, INTERRUPTED_AFTER_RESULT.length + 1, 'events')
    },
  },
  10: {
    title: 'A writer whose log was changed by somebody else refuses to write with CONFLICT, and changes nothing.',
    why: 'Writing at a stale offset leaves a hole.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const persistence = await context.open()
      const { session, meddle, stored } = await growStoredLog(context, persistence, 's')
      await meddle()
      const before = await stored()
      appendEach(session, turnEvents(2))
      const error = await expectRefusal(() => session.flush(), ['CONFLICT', 'POISONED'], 'a flush into a changed log')
      const codes = [error.code, (error.cause as { readonly code?: string } | undefined)?.code]
      expectThat(codes.includes('CONFLICT'), `neither the error nor its cause says CONFLICT: ${codes.join(', ')}`)
      expectThat((await stored()).equals(before), 'the refused flush changed the log')
      await session.abandon()
    },
  },
})

function isWonOrLocked(line: WorkerLine | undefined): boolean {
  return line?.kind === 'won' || (line?.kind === 'refused' && line.code === 'LOCKED')
}
