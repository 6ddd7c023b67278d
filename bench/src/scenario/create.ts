/** What a new session costs until its first event is durable, against one durable append to an old one. */
import type { Session } from 'session-persistence'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { type Row, ratioRow } from '../report/row.ts'
import type { Scenario } from './scenario.ts'

const CREATED = 10
const APPENDED = 50

export const createScenario: Scenario = {
  id: 'create',
  description: 'create + first durable event, against a durable append of the same event',
  async run(context) {
    const cases: Case[] = []
    for (const backend of context.backends) {
      const persistence = await context.open(backend)
      const old = await persistence.create()
      await title(old)
      cases.push({
        name: `${backend.name} create`,
        sample: async () => {
          let ms = 0
          for (let made = 0; made < CREATED; made++) {
            const start = performance.now()
            const session = await persistence.create()
            await title(session)
            ms += performance.now() - start
            await session.close()
          }
          return ms / CREATED
        },
      })
      cases.push({
        name: `${backend.name} append`,
        sample: async () => {
          const start = performance.now()
          for (let appended = 0; appended < APPENDED; appended++) await title(old)
          return (performance.now() - start) / APPENDED
        },
      })
    }
    context.progress('creating sessions')
    const samples = await interleave(cases, context.plan())
    return context.backends.map(
      (backend): Row =>
        ratioRow(
          {
            id: 'create',
            title: 'create a session, first event durable',
            backend,
            through: 'session',
            unit: '× append',
          },
          samplesOf(samples, `${backend.name} create`),
          samplesOf(samples, `${backend.name} append`),
          { unit: 'µs', per: 1 },
        ),
    )
  },
}

async function title(session: Session): Promise<void> {
  session.append('session/title', { title: 'A title of some length' })
  await session.flush()
}
