/** How long a streaming turn keeps the event loop: p99 of its delay, in a process of its own. */
import { measureTurns, runsInChild } from '../child/run-child.ts'
import type { TurnsAnswer } from '../child/task.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { plainRow, type Reference, type Row } from '../report/row.ts'
import type { Scenario } from './scenario.ts'

const EVENTS_PER_SECOND = 500

const ALONE: Reference = { reference: 'loop alone', description: 'the same loop without a session' }

export const eventLoopScenario: Scenario = {
  id: 'event-loop',
  description:
    'a harness streams with checkpoints: p99 of the event-loop delay, the same loop without a session beside it; latency of append and checkpoint',
  async run(context) {
    const { processes, streamSeconds } = context.scale
    const rows: Row[] = []
    for (const backend of context.backends.filter(runsInChild)) {
      const { location } = await context.medium(backend)
      if (location === undefined) continue
      context.progress(`event loop, streaming into ${backend.name}`)
      const task = { kind: 'turns', seconds: streamSeconds, eventsPerSecond: EVENTS_PER_SECOND } as const
      const streamed: TurnsAnswer[] = []
      const stored: Case = {
        name: 'stored',
        sample: async () => {
          const answer = await measureTurns(backend, location, { ...task, stored: true }, context.signal)
          streamed.push(answer)
          return answer.delayP99
        },
      }
      const bare: Case = {
        name: 'bare',
        sample: async () =>
          (await measureTurns(backend, location, { ...task, stored: false }, context.signal)).delayP99,
      }
      // The loop alone is the same for all of them: once will do.
      const cases = rows.length === 0 ? [stored, bare] : [stored]
      const samples = await interleave(cases, { rounds: processes, warmUp: 0, signal: context.signal })
      const what = `${EVENTS_PER_SECOND} events/s with checkpoints`
      const facts = { backend, through: 'session', unit: 'ms' } as const
      const title = `event-loop delay p99, ${what}`
      if (cases.includes(bare)) {
        rows.push(
          plainRow(
            { id: 'event-loop', title, backend: ALONE, through: 'none', unit: 'ms' },
            samplesOf(samples, 'bare'),
          ),
        )
      }
      rows.push(plainRow({ ...facts, id: 'event-loop', title }, samplesOf(samples, 'stored')))
      rows.push(
        ...LATENCIES.map(([id, name, of]) => plainRow({ ...facts, id, title: `${name}, ${what}` }, streamed.map(of))),
      )
    }
    return rows
  },
}

/** What the same processes saw on their own side: `append` never waits for the disk, a checkpoint does. */
const LATENCIES: readonly (readonly [id: string, name: string, of: (answer: TurnsAnswer) => number])[] = [
  ['latency/append-p50', 'latency of append p50', ({ appendP50 }) => appendP50],
  ['latency/append-p99', 'latency of append p99', ({ appendP99 }) => appendP99],
  ['latency/checkpoint-p50', 'latency of a checkpoint p50', ({ checkpointP50 }) => checkpointP50],
  ['latency/checkpoint-p99', 'latency of a checkpoint p99', ({ checkpointP99 }) => checkpointP99],
]
