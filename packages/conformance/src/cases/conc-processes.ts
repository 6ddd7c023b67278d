import type { CaseContext, CaseNeeds, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectThat } from '../expectation.ts'
import { contentOf, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import { conversation, EVENTS_PER_TURN, turnEvents } from '../workload.ts'

const EXCLUSIVE: Partial<CaseNeeds> = {
  tier: 'process',
  capabilities: { exclusion: ['host'], durability: ['process', 'power'] },
  timeoutMs: 60_000,
}

/** Processes that want the same at the same time. */
export const CONC_PROCESS_CASES: readonly ConformanceCase[] = casesOf('CONC', {
  11: {
    title: 'Two processes that take a session in turns leave every turn of both, in one order, none twice.',
    why: 'A scheduled job and a user work on one session.',
    needs: EXCLUSIVE,
    run: (context) => contend(context, 2, context.effort === 'full' ? 8 : 3),
  },
  12: {
    title: 'Eight processes that contend for one session leave every turn of each, in one order, none twice.',
    why: 'Under pressure a lock that is nearly right is wrong.',
    needs: EXCLUSIVE,
    run: (context) => contend(context, 8, context.effort === 'full' ? 2 : 1),
  },
  13: {
    title: 'Eight processes that write eight sessions of one store do not disturb each other, nor whoever lists.',
    why: 'Sub-agents run in processes of their own.',
    needs: { tier: 'process', capabilities: { durability: ['process', 'power'] }, timeoutMs: 60_000 },
    run: async (context) => {
      const persistence = await context.open()
      const turns = context.effort === 'full' ? 3 : 1
      const writers = Array.from({ length: 8 }, (_, index) => {
        return context.spawn({ kind: 'write', id: `s${index}`, turns })
      })
      const expected = conversation(turns).map(contentOf)
      for (let event = 0; event < expected.length; event += 1) {
        for (const writer of writers) {
          const line = await writer.next()
          expectThat(line?.kind === 'ack', `a writer said ${JSON.stringify(line)}`)
        }
        if (event % EVENTS_PER_TURN !== 0) continue
        const { sessions } = await persistence.list()
        expectEqual(sessions.length, writers.length, 'sessions listed while they are written')
        for (const { state } of sessions)
          expectThat(state !== 'damaged', 'a session that is written is listed as damaged')
      }
      for (const writer of writers) await writer.finish()
      for (let index = 0; index < writers.length; index += 1) {
        expectEqual((await storedEvents(persistence, `s${index}`)).map(contentOf), expected, `events of s${index}`)
      }
    },
  },
})

async function contend(context: CaseContext, processes: number, turnsEach: number): Promise<void> {
  const persistence = await context.open()
  await storeSession(persistence, 's', [turnEvents(1)])
  const workers = Array.from({ length: processes }, () => {
    return context.spawn({ kind: 'contend', id: 's', turns: turnsEach })
  })
  for (const worker of workers) expectEqual((await worker.next())?.kind, 'ready', 'a process')
  for (const worker of workers) worker.go()
  for (const worker of workers) {
    for (let turn = 0; turn < turnsEach; turn += 1) {
      const line = await worker.next()
      expectThat(line?.kind === 'ack', `a process said ${JSON.stringify(line)}`)
    }
  }
  const events = await storedEvents(persistence, 's')
  expectEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index),
    'seqs',
  )
  const expected = conversation(1 + processes * turnsEach)
  expectEqual(withoutResumed(events).map(contentOf), expected.map(contentOf), 'turns of all processes')
}
