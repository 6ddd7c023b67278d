/** Fork, delete, convert and seal: what one session costs as a whole, against P on the same log. */
import { convertSessions } from 'session-persistence'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog, takeEvents } from '../input/generated-log.ts'
import { elapsed } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { parseFile } from '../reference/bare-replay.ts'
import { plainRow, type Row, ratioRow } from '../report/row.ts'
import { appendEach } from './append-inputs.ts'
import { lasting, type Scenario, type ScenarioContext, type StoredLog } from './scenario.ts'

/** Events of the log that is sealed, and events a flush in it: small batches, as a crash leaves them. */
const SEALED = 10_000
const SEALED_BATCH = 10

export const manageScenario: Scenario = {
  id: 'manage',
  description: 'fork, delete, convert and seal of one session against P; delete and seal in ms',
  async run(context) {
    return [...(await wholeLogs(context)), ...(await seals(context))]
  },
}

async function wholeLogs(context: ScenarioContext): Promise<readonly Row[]> {
  const count = context.scale.deltaEvents
  const plan = context.plan('long')
  const { file } = context.parseFile(deltaLog, count)
  const cases: Case[] = [{ name: 'P', sample: () => elapsed(() => parseFile(file)) }]
  const backends = lasting(context.backends)
  const deletions = new Map<string, number[]>()
  for (const backend of backends) {
    const stored = await context.stored(backend, deltaLog, count)
    const deleted: number[] = []
    deletions.set(backend.name, deleted)
    cases.push({
      name: `${backend.name} fork`,
      sample: async (round) => {
        const { ms, id } = await forkOnce(stored)
        const took = await elapsed(() => stored.persistence.delete(id))
        if (round >= plan.warmUp) deleted.push(took)
        return ms
      },
    })
    cases.push({ name: `${backend.name} convert`, sample: () => convertOnce(backend, stored) })
  }
  context.progress('fork, delete, convert')
  const samples = await interleave(cases, plan)
  const events = `${count.toLocaleString('en-US')} delta events`
  return backends.flatMap((backend): Row[] => {
    const facts = { backend, through: 'session' } as const
    const ratio = (what: string, title: string): Row =>
      ratioRow(
        { ...facts, id: `manage/${what}`, title, unit: '× P' },
        samplesOf(samples, `${backend.name} ${what}`),
        samplesOf(samples, 'P'),
      )
    return [
      ratio('fork', `fork at the end of ${events}`),
      ratio('convert', `convert ${events} to a new store of the same kind, proven by digest`),
      plainRow(
        { ...facts, id: 'manage/delete', title: `delete ${events}`, unit: 'ms' },
        deletions.get(backend.name) ?? [],
      ),
    ]
  })
}

async function forkOnce({ persistence, id }: StoredLog): Promise<{ readonly ms: number; readonly id: string }> {
  const start = performance.now()
  const child = await persistence.fork(id)
  await child.flush()
  const ms = performance.now() - start
  await child.close()
  return { ms, id: child.id }
}

async function convertOnce(backend: BenchBackend, { persistence, id }: StoredLog): Promise<number> {
  const medium = await backend.createMedium()
  const target = await medium.open()
  try {
    return await elapsed(async () => {
      for await (const session of convertSessions(persistence, target, { ids: [id] })) {
        if (session.outcome === 'failed') throw session.error
      }
    })
  } finally {
    await target.close()
    await medium.destroy?.()
  }
}

async function seals(context: ScenarioContext): Promise<readonly Row[]> {
  const events = takeEvents(deltaLog, Math.min(SEALED, context.scale.deltaEvents))
  const cases: (Case & { readonly backend: BenchBackend })[] = []
  for (const backend of lasting(context.backends)) {
    const medium = await context.medium(backend)
    const { seal } = medium
    if (seal === undefined) continue
    const persistence = await medium.open()
    context.defer(() => persistence[Symbol.asyncDispose]())
    cases.push({
      name: backend.name,
      backend,
      sample: async () => {
        const session = await persistence.create()
        for (let at = 0; at < events.length; at += SEALED_BATCH) {
          appendEach(session, events.slice(at, at + SEALED_BATCH))
          await session.flush()
        }
        // A session that is closed may be sealed already.
        await session.abandon()
        const ms = await elapsed(() => seal(session.id))
        await persistence.delete(session.id)
        return ms
      },
    })
  }
  context.progress('seal')
  const samples = await interleave(cases, context.plan('long'))
  const title = `seal or compact ${events.length.toLocaleString('en-US')} delta events, ${SEALED_BATCH} a flush`
  return cases.map(({ name, backend }) =>
    plainRow({ id: 'manage/seal', title, backend, through: 'none', unit: 'ms' }, samplesOf(samples, name)),
  )
}
