/** Peak memory of a process that resumes, or streams, a long log, above one that only opened the backend. */
import { measureMemory, runsInChild } from '../child/run-child.ts'
import { deltaLog } from '../input/generated-log.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { plainRow, type Row } from '../report/row.ts'
import type { Scenario } from './scenario.ts'

export const memoryScenario: Scenario = {
  id: 'memory',
  description: 'peak resident memory above an idle process that has opened the backend',
  async run(context) {
    const { longEvents, processes } = context.scale
    const rows: Row[] = []
    for (const backend of context.backends.filter(runsInChild)) {
      const { medium, id } = await context.stored(backend, deltaLog, longEvents)
      const { location } = medium
      if (location === undefined) continue
      context.progress(`memory of ${backend.name}`)
      const peak = async (task: { kind: 'idle' } | { kind: 'resume' | 'stream'; id: string }): Promise<number> =>
        (await measureMemory(backend, location, task, context.signal)).peakBytes
      const cases: Case[] = [
        { name: 'idle', sample: () => peak({ kind: 'idle' }) },
        { name: 'resume', sample: () => peak({ kind: 'resume', id }) },
        { name: 'stream', sample: () => peak({ kind: 'stream', id }) },
      ]
      const samples = await interleave(cases, { rounds: processes, warmUp: 0, signal: context.signal })
      const idle = samplesOf(samples, 'idle')
      for (const what of ['resume', 'stream'] as const) {
        const above = samplesOf(samples, what).map((bytes, round) => bytes - (idle[round] ?? Number.NaN))
        const title = `memory above idle, ${what} ${longEvents.toLocaleString('en-US')} events`
        rows.push(plainRow({ id: `memory/${what}`, title, backend, through: 'session', unit: 'bytes' }, above))
      }
    }
    return rows
  },
}
