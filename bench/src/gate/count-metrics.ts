/** What is counted and not timed: system calls, syncs, bytes. */

import type { ScenarioContext } from '../scenario/scenario.ts'
import { sizeScenario } from '../scenario/size.ts'
import { systemCallsScenario } from '../scenario/system-calls.ts'
import type { GateMetric } from './baseline.ts'

/** How many batches share a sync depends on the disk; everything else is the same on every machine. */
const UNSTABLE: readonly string[] = ['syncs/pipelined', 'calls/pipelined']

export async function countMetrics(context: ScenarioContext): Promise<ReadonlyMap<string, GateMetric>> {
  const rows = [...(await systemCallsScenario.run(context)), ...(await sizeScenario.run(context))]
  return new Map(
    rows
      .filter(({ id }) => !UNSTABLE.includes(id))
      .map(({ id, backend, measured, absolute }) => {
        // Where something was counted many times the mean: it holds what happens now and then, too.
        const { median } = absolute?.unit === 'on average' ? absolute.value : measured
        return [`${id} ${backend}`, { kind: 'count', value: median }]
      }),
  )
}
