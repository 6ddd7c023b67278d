/** How long a streaming turn keeps the event loop: p99 of its delay, in a process of its own. */
import { measureTurns, runsInChild } from '../child/run-child.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { plainRow, type Row } from '../report/row.ts'
import type { Scenario } from './scenario.ts'

const EVENTS_PER_SECOND = 500

export const eventLoopScenario: Scenario = {
  id: 'event-loop',
  description:
    'p99 of the event-loop delay while a harness streams with checkpoints; the same loop without a session beside it',
  async run(context) {
    const { processes, streamSeconds } = context.scale
    const rows: Row[] = []
    for (const backend of context.backends.filter(runsInChild)) {
      const { location } = await context.medium(backend)
      if (location === undefined) continue
      context.progress(`event loop, streaming into ${backend.name}`)
      const sample = async (stored: boolean): Promise<number> => {
        const task = { kind: 'turns', seconds: streamSeconds, eventsPerSecond: EVENTS_PER_SECOND, stored } as const
        return (await measureTurns(backend, location, task, context.signal)).delayP99
      }
      const cases: Case[] = [
        { name: 'stored', sample: () => sample(true) },
        { name: 'bare', sample: () => sample(false) },
      ]
      const samples = await interleave(cases, { rounds: processes, warmUp: 0, signal: context.signal })
      const title = `event-loop delay p99, ${EVENTS_PER_SECOND} events/s with checkpoints`
      const facts = { backend, through: 'session', unit: 'ms' } as const
      rows.push(plainRow({ ...facts, id: 'event-loop', title }, samplesOf(samples, 'stored')))
      rows.push(
        plainRow({ ...facts, id: 'event-loop/bare', title: `${title}: loop alone` }, samplesOf(samples, 'bare')),
      )
    }
    return rows
  },
}
