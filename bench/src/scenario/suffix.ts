/** Reads near the end of a long log, and opening it to write: neither may cost what the length of the log is. */
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog } from '../input/generated-log.ts'
import { elapsed } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { plainRow, type Row, ratioRow } from '../report/row.ts'
import { lasting, type Scenario, type ScenarioContext, type StoredLog } from './scenario.ts'

export const suffixScenario: Scenario = {
  id: 'suffix',
  description: 'the last 1 % of a long log against its full replay; the last 50 events, forwards and backwards, in ms',
  async run(context) {
    const rows: Row[] = []
    for (const backend of lasting(context.backends)) rows.push(...(await suffixRows(context, backend)))
    return rows
  },
}

async function suffixRows(context: ScenarioContext, backend: BenchBackend): Promise<readonly Row[]> {
  const count = context.scale.longEvents
  const stored = await context.stored(backend, deltaLog, count)
  const from = (share: number): Promise<number> => elapsed(() => readFrom(stored, share))
  const cases: Case[] = [
    { name: 'all', sample: () => from(0) },
    { name: 'percent', sample: () => from(count - count / 100) },
  ]
  const events = `${count.toLocaleString('en-US')} events`
  context.progress(`suffix reads of ${events} in ${backend.name}`)
  const samples = await interleave(cases, context.plan('long'))
  const lastCases: Case[] = [
    { name: '50', sample: () => from(count - 50) },
    { name: 'reverse', sample: () => elapsed(() => lastBackwards(stored, 50)) },
  ]
  const last = await interleave(lastCases, context.plan())
  const facts = { backend, through: 'session' } as const
  return [
    ratioRow(
      { ...facts, id: 'suffix/percent', title: `last 1 % of ${events}, of full replay`, unit: 'share' },
      samplesOf(samples, 'percent'),
      samplesOf(samples, 'all'),
    ),
    plainRow({ ...facts, id: 'suffix/50', title: `last 50 of ${events}`, unit: 'ms' }, samplesOf(last, '50')),
    plainRow(
      { ...facts, id: 'suffix/reverse-50', title: `last 50 of ${events}, backwards, then stopped`, unit: 'ms' },
      samplesOf(last, 'reverse'),
    ),
  ]
}

async function lastBackwards({ persistence, id }: StoredLog, count: number): Promise<void> {
  let read = 0
  for await (const _event of persistence.read(id, { reverse: true })) if (++read === count) return
}

async function readFrom({ persistence, id }: StoredLog, from: number): Promise<void> {
  for await (const _event of persistence.read(id, { from }));
}
