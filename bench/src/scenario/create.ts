/** What a new session costs until its first event is durable, against one durable append to an old one. */
import path from 'node:path'
import type { Session } from 'session-persistence'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { BareAppend } from '../reference/bare-append.ts'
import { BareCreate } from '../reference/bare-create.ts'
import { REFERENCES, type Reference, type Row, ratioRow } from '../report/row.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'

const CREATED = 10
const APPENDED = 50
const TITLE = 'A title of some length'

export const createScenario: Scenario = {
  id: 'create',
  description: 'create + first durable event, against a durable append of the same event',
  async run(context) {
    const subjects = [REFERENCES.S, ...context.backends]
    const cases = bareCases(context)
    for (const backend of context.backends) cases.push(...(await backendCases(context, backend)))
    context.progress('creating sessions')
    const plan = context.plan()
    const warmUp = Math.max(plan.warmUp, Math.ceil(context.scale.settledCreates / CREATED))
    const samples = await interleave(cases, { ...plan, warmUp })
    return subjects.map((backend): Row => {
      const name = nameOf(backend)
      return ratioRow(
        {
          id: 'create',
          title: 'create a session, first event durable',
          backend,
          through: 'reference' in backend ? 'none' : 'session',
          unit: '× append',
        },
        samplesOf(samples, `${name} create`),
        samplesOf(samples, `${name} append`),
        { unit: 'µs', per: 1 },
      )
    })
  },
}

function nameOf(subject: BenchBackend | Reference): string {
  return 'reference' in subject ? subject.reference : subject.name
}

function bareCases(context: ScenarioContext): Case[] {
  const creator = new BareCreate(path.join(context.directory, 'create'))
  const old = new BareAppend(path.join(context.directory, 'create-append'))
  context.defer(() => creator.close())
  context.defer(() => old.close())
  const bytes = Buffer.from(`${JSON.stringify({ seq: 0, time: 0, type: 'session/title', data: { title: TITLE } })}\n`)
  const repeat = (times: number, work: (bytes: Uint8Array) => void): number =>
    elapsedSync(() => {
      for (let time = 0; time < times; time++) work(bytes)
    }) / times
  const { reference } = REFERENCES.S
  return [
    { name: `${reference} create`, sample: () => repeat(CREATED, (ready) => creator.create(ready)) },
    { name: `${reference} append`, sample: () => repeat(APPENDED, (ready) => old.prepared(ready)) },
  ]
}

async function backendCases(context: ScenarioContext, backend: BenchBackend): Promise<readonly Case[]> {
  const persistence = await context.open(backend)
  const old = await persistence.create()
  await title(old)
  return [
    {
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
    },
    {
      name: `${backend.name} append`,
      sample: async () => {
        const ms = await elapsed(async () => {
          for (let appended = 0; appended < APPENDED; appended++) await title(old)
        })
        return ms / APPENDED
      },
    },
  ]
}

async function title(session: Session): Promise<void> {
  session.append('session/title', { title: TITLE })
  await session.flush()
}
