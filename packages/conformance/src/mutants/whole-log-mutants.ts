import type { AnySessionEvent, Session } from '@session-persistence/core'
import { changedReads, type Mutant, overlay } from './mutant.ts'

/** Wrong in calls about a log as a whole, or in what the backend says of itself. */
export const WHOLE_LOG_MUTANTS: readonly Mutant[] = [
  {
    name: 'annotate-ends-the-turn',
    wrong: 'Annotating a session closes its open turn.',
    aimedAt: 'LIFE-12',
    persistence: (inner) => ({
      annotate: async (id, annotation) => {
        await (await inner.resume(id, { preserveUnknown: true })).close()
        return inner.annotate(id, annotation)
      },
    }),
  },
  {
    name: 'import-changes-times',
    wrong: 'Importing a log gives every event the time of the import.',
    aimedAt: 'LIFE-13',
    persistence: (inner) => ({
      importLog: (source, options) => {
        async function* retimed(): AsyncGenerator<readonly AnySessionEvent[]> {
          for await (const page of source.events) yield page.map((event) => ({ ...event, time: 5 }))
        }
        return inner.importLog({ ...source, events: retimed() }, options)
      },
    }),
  },
  {
    name: 'unknown-projection-is-undefined',
    wrong: 'The state of a projection that was not registered is undefined instead of a refusal.',
    aimedAt: 'LIFE-14',
    session: (inner) => ({
      state: ((projection) => {
        try {
          return inner.state(projection)
        } catch {
          return undefined
        }
      }) as Session['state'],
    }),
  },
  {
    name: 'seqs-jump-after-a-resume',
    wrong: 'The seqs of a second writer leave a gap.',
    aimedAt: 'APPEND-1',
    ...changedReads(async function* (events) {
      let jump = 0
      for await (const event of events) {
        if (event.type === 'session/resumed') jump = 1
        yield jump === 0 ? event : { ...event, seq: event.seq + jump }
      }
    }),
  },
  {
    name: 'usage-restarts-at-resume',
    wrong: 'A resumed session counts answers from zero.',
    aimedAt: 'RECOVER-10',
    session: (inner, _medium, how) => (how === 'resume' ? { usage: () => ({ ...inner.usage(), answers: 0 }) } : {}),
  },
  {
    name: 'description-can-be-changed',
    wrong: 'The description is not frozen.',
    aimedAt: 'CAP-1',
    persistence: (inner) => ({ description: structuredClone(inner.description) }),
  },
  {
    name: 'repair-pretends',
    wrong: 'Repair reports success where the backend has none.',
    aimedAt: 'CAP-2',
    persistence: (inner) => ({
      repair: async (id) => {
        if (inner.description.capabilities.repair !== 'none') return overlay(await inner.repair(id), { kept: -1 })
        return { id, dryRun: true, kept: 0, lost: [] }
      },
    }),
  },
]
