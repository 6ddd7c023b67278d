import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { locateStoredLog } from '../located-log.ts'
import { bytesOf, changedParts } from '../log-parts.ts'
import { storedEvents, storeSession } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

/** Turns of the event loop in which a follow that sees other processes would have looked at the medium again. */
const TURNS_TO_NOTICE = 200

/** The lower level of each capability is observed too: a backend that does more than it declares declares wrongly. */
export const CAP_LOWER_LEVEL_CASES: readonly ConformanceCase[] = casesOf('CAP', {
  7: {
    title: 'Durability `memory` is observed: another process finds nothing of what a killed one had flushed.',
    why: 'A harness that is told that nothing survives looks for nothing after a crash.',
    needs: { tier: 'process', capabilities: { durability: ['memory'] } },
    observes: 'durability',
    run: async (context) => {
      const worker = context.spawn({ kind: 'write', id: 's', turns: 1 })
      for (let count = 0; count < 4; count += 1) await worker.next()
      await worker.kill()
      const { sessions } = await (await context.open()).list()
      expectEqual(sessions.length, 0, 'sessions that survived the process that wrote them')
    },
  },
  8: {
    title: 'A writer in another process is refused where exclusion is `host`, and is not where it is `medium`.',
    why: 'Whoever runs two processes must know whether the store keeps them apart or he has to.',
    needs: { tier: 'process' },
    observes: 'exclusion',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const holder = context.spawn({ kind: 'hold', id: 's' })
      expectEqual((await holder.next())?.kind, 'ready', 'the process that holds the session')
      if (context.capabilities.exclusion === 'host') {
        await expectRefusal(() => persistence.resume('s'), 'LOCKED', 'a writer beside that of another process')
      } else {
        const beside = await persistence.resume('s').catch(() => undefined)
        expectThat(beside !== undefined, 'a writer beside that of another process was refused')
        await beside.abandon()
      }
      await holder.finish()
    },
  },
  9: {
    title: 'Follow declared `medium` is not woken by another process; what that wrote is there for the next read.',
    why: 'A viewer that is told to ask again must be able to, and one that is woken should know it.',
    needs: { tier: 'process', capabilities: { follow: ['medium'], durability: ['process', 'power'] } },
    observes: 'follow',
    run: async (context) => {
      const persistence = await context.open()
      const stored = await storeSession(persistence, 's', [[{ type: 'session/title', data: { title: 'x' } }]])
      const abort = new AbortController()
      const followed = persistence.follow('s', { signal: abort.signal })[Symbol.asyncIterator]()
      expectEqual((await followed.next()).value, stored[0], 'the stored event')
      let woken = false
      const waiting = followed.next().then(
        () => {
          woken = true
        },
        () => {},
      )
      const writer = context.spawn({ kind: 'write', id: 's', turns: 1, resume: true })
      for (let count = 0; count < 4; count += 1) await writer.next()
      for (let turn = 0; turn < TURNS_TO_NOTICE && !woken; turn += 1) await new Promise((go) => setTimeout(go, 1))
      expectThat(!woken, 'follow saw what another process wrote')
      abort.abort(new Error('enough'))
      await waiting
      expectThat((await storedEvents(persistence, 's')).length >= 5, 'a new read does not see it')
      await writer.kill()
    },
  },
  10: {
    title: 'Integrity `none` is observed: a changed letter in a stored message is read as it stands.',
    why: 'A backend that checks should say so: the clauses about damage are then held against it.',
    needs: { tier: 'medium', capabilities: { integrity: ['none'] } },
    observes: 'integrity',
    run: async (context) => {
      const persistence = await context.open()
      const marked = [{ type: 'user/message', data: { message: 'marked-with-a-word' } }] as const
      const log = await locateStoredLog(context, persistence, 's', [marked, turnEvents(1)])
      await persistence.close()
      const place = bytesOf(log.parts).indexOf('marked-with-a-word')
      if (place === -1) context.skip('the medium does not store text as it is')
      await log.store(
        changedParts(log.parts, [place, place + 1], (bytes) => {
          bytes[0] = 'M'.charCodeAt(0)
        }),
      )
      const reading = await context.open()
      const events = await storedEvents(reading, 's').catch(() => undefined)
      expectThat(events !== undefined, 'a changed letter was noticed')
      expectEqual(events[0]?.data, { message: 'Marked-with-a-word' }, 'the changed message')
    },
  },
})
