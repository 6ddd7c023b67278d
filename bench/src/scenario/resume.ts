/** Cold resume: projections only, from the start against P, and from a snapshot against a resume from the start. */
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog } from '../input/generated-log.ts'
import { elapsed } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { parseFile } from '../reference/bare-replay.ts'
import { type Row, ratioRow } from '../report/row.ts'
import { lasting, type Scenario, type ScenarioContext, type StoredLog } from './scenario.ts'

export const resumeScenario: Scenario = {
  id: 'resume',
  description: 'cold resume without a snapshot against P, and with one near the end against a resume without',
  async run(context) {
    return [...(await cold(context)), ...(await fromSnapshot(context))]
  },
}

/** Lock, look, fold, release. Nothing is written: not even a snapshot, which the next round would profit from. */
async function resumeOnce(stored: StoredLog): Promise<number> {
  const start = performance.now()
  const session = await stored.persistence.resume(stored.id, { openTurn: 'keep' })
  const ms = performance.now() - start
  await session.abandon()
  return ms
}

async function cold(context: ScenarioContext): Promise<readonly Row[]> {
  const count = context.scale.deltaEvents
  const { file } = context.parseFile(deltaLog, count)
  const cases: Case[] = [{ name: 'P', sample: () => elapsed(() => parseFile(file)) }]
  const { backends } = context
  for (const backend of backends) {
    const stored = await context.stored(backend, deltaLog, count)
    cases.push({ name: backend.name, sample: () => resumeOnce(stored) })
  }
  context.progress('cold resume')
  const samples = await interleave(cases, context.plan())
  return backends.map((backend) =>
    ratioRow(
      {
        id: 'resume/cold',
        title: 'cold resume without a snapshot, delta',
        backend,
        through: 'session',
        unit: '× P',
      },
      samplesOf(samples, backend.name),
      samplesOf(samples, 'P'),
    ),
  )
}

async function fromSnapshot(context: ScenarioContext): Promise<readonly Row[]> {
  const { longEvents } = context.scale
  const backends = lasting(context.backends)
  const rows: Row[] = []
  for (const backend of backends) rows.push(await snapshotRow(context, backend, longEvents))
  return rows
}

async function snapshotRow(context: ScenarioContext, backend: BenchBackend, count: number): Promise<Row> {
  const without = await context.stored(backend, deltaLog, count)
  const snapped = await context.stored(backend, deltaLog, count, 'with a snapshot')
  const session = await snapped.persistence.resume(snapped.id, { openTurn: 'keep' })
  session.append('session/title', { title: 'bench' })
  await session.close()
  context.progress(`resume of ${count.toLocaleString('en-US')} events in ${backend.name}`)
  const cases: Case[] = [
    { name: 'with', sample: () => resumeOnce(snapped) },
    { name: 'without', sample: () => resumeOnce(without) },
  ]
  const samples = await interleave(cases, context.plan('long'))
  return ratioRow(
    {
      id: 'resume/snapshot',
      title: `cold resume with a snapshot near the end, of one without, ${count.toLocaleString('en-US')} events`,
      backend,
      through: 'session',
      unit: 'share',
    },
    samplesOf(samples, 'with'),
    samplesOf(samples, 'without'),
  )
}
