/** Peak memory of a process that reads a log: the whole of it, since what an idle one takes is as noisy as the rest. */
import { measureMemory, runsInChild } from '../child/run-child.ts'
import { deltaLog } from '../input/generated-log.ts'
import type { ScenarioContext } from '../scenario/scenario.ts'
import type { GateMetric } from './baseline.ts'

const EVENTS = 100_000
/** The smallest peak of so many processes: a collection that comes late makes it larger, nothing makes it smaller. */
const PROCESSES = 3
/** Without other threads a collection comes when it is due: peaks differ by one or two percent. */
const STEADY = ['--single-threaded']

export async function memoryMetrics(context: ScenarioContext): Promise<ReadonlyMap<string, GateMetric>> {
  const metrics = new Map<string, GateMetric>()
  for (const backend of context.backends.filter(runsInChild)) {
    const { medium, id } = await context.stored(backend, deltaLog, EVENTS)
    const { location } = medium
    if (location === undefined) continue
    for (const kind of ['resume', 'stream'] as const) {
      const peaks: number[] = []
      for (let started = 0; started < PROCESSES; started++) {
        const { peakBytes } = await measureMemory(backend, location, { kind, id }, context.signal, STEADY)
        peaks.push(peakBytes / 1e6)
      }
      metrics.set(`memory/${kind} ${backend.name}`, { kind: 'memory', value: Math.min(...peaks) })
    }
  }
  return metrics
}
