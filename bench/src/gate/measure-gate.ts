/** One measurement of everything that is gated. */
import fs from 'node:fs/promises'
import { findBackends } from '../backend/find-backends.ts'
import { temporaryDirectory } from '../backend/temporary-directory.ts'
import { RunContext } from '../scenario/context.ts'
import { QUICK } from '../scenario/scale.ts'
import type { GateMetric } from './baseline.ts'
import { countMetrics } from './count-metrics.ts'
import { cpuMetrics, EVERY, type SeededSlowdown } from './cpu-metrics.ts'
import { memoryMetrics } from './memory-metrics.ts'

/** What to measure. */
export interface GateScope {
  readonly backends: readonly string[]
  /** Counts as well as CPU time. */
  readonly counts: boolean
  /** Peaks of memory as well. */
  readonly memory: boolean
  readonly slowdown?: SeededSlowdown
}

export type GateMetrics = ReadonlyMap<string, GateMetric>

export type MeasureGate = (scope: GateScope) => Promise<GateMetrics>

/** Takes one measurement in this process. */
export async function measureGate(scope: GateScope): Promise<GateMetrics> {
  const directory = temporaryDirectory()
  const context = new RunContext({
    backends: (await findBackends(scope.backends)).backends,
    scale: QUICK,
    directory,
    signal: undefined,
    progress: () => {},
  })
  try {
    const cpu = await cpuMetrics(context, scope.slowdown)
    await context.endScenario()
    const memory = scope.memory ? await memoryMetrics(context) : []
    await context.endScenario()
    const counts = scope.counts ? await countMetrics(context) : []
    return new Map([...slowed(counts, scope.slowdown), ...cpu, ...slowed(memory, scope.slowdown)])
  } finally {
    await context.close()
    await fs.rm(directory, { recursive: true, force: true })
  }
}

/** What is not timed cannot be made slower: its value is multiplied. A count of none becomes one. */
function* slowed(
  metrics: Iterable<readonly [string, GateMetric]>,
  slowdown: SeededSlowdown | undefined,
): Generator<readonly [string, GateMetric]> {
  for (const [name, metric] of metrics) {
    const meant = slowdown?.metric === name || slowdown?.metric === EVERY
    yield [name, meant ? { ...metric, value: metric.value === 0 ? 1 : metric.value * slowdown.factor } : metric]
  }
}
