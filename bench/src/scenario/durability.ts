/** What power durability costs: appends that survive power loss beside those that survive the death of the process. */
import type { BenchBackend, BenchMedium } from '../backend/bench-backend.ts'
import { deltaLog } from '../input/generated-log.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { type Row, ratioRow } from '../report/row.ts'
import { RoundInputs, sessionCase } from './append-inputs.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'

const BATCHES = [1, 100] as const

type Relaxed = BenchBackend & Required<Pick<BenchBackend, 'createProcessMedium'>>

export const durabilityScenario: Scenario = {
  id: 'durability',
  description: 'append with durability `process` (written, not synced), against `power` in the same rounds',
  async run(context) {
    const backends = context.backends.filter((backend): backend is Relaxed => backend.createProcessMedium !== undefined)
    const rows: Row[] = []
    for (const events of BATCHES) {
      context.progress(`durability, ${events} a flush`)
      rows.push(...(await compare(context, backends, events)))
    }
    return rows
  },
}

async function compare(
  context: ScenarioContext,
  backends: readonly Relaxed[],
  events: number,
): Promise<readonly Row[]> {
  const plan = context.plan()
  const flushes = context.scale.flushes[events] ?? 1
  const inputs = new RoundInputs(deltaLog, plan.rounds + plan.warmUp, flushes, events)
  const cases: Case[] = []
  for (const backend of backends) {
    const relaxed = await backend.createProcessMedium()
    context.defer(() => relaxed.destroy?.())
    cases.push(await caseOf(context, `${backend.name} power`, await context.medium(backend), inputs, flushes))
    cases.push(await caseOf(context, `${backend.name} process`, relaxed, inputs, flushes))
  }
  const samples = await interleave(cases, plan)
  const batch = events === 1 ? '1 event a flush' : `${events} events a flush`
  return backends.map((backend) =>
    ratioRow(
      {
        id: `durability/${events}`,
        title: `append that survives the death of the process only, ${batch}`,
        backend,
        through: 'session',
        unit: '× power',
      },
      samplesOf(samples, `${backend.name} process`),
      samplesOf(samples, `${backend.name} power`),
      { unit: 'µs', per: 1 },
    ),
  )
}

async function caseOf(
  context: ScenarioContext,
  name: string,
  medium: BenchMedium,
  inputs: RoundInputs,
  flushes: number,
): Promise<Case> {
  const persistence = await medium.open()
  context.defer(() => persistence[Symbol.asyncDispose]())
  return sessionCase(name, persistence, inputs, flushes)
}
