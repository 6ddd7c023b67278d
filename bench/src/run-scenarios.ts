/** Runs scenarios so that what fails ends nothing but itself, and what was measured is kept. */
import { unlessStuck } from './measure/unless-stuck.ts'
import type { Failure } from './report/report.ts'
import type { Row } from './report/row.ts'
import type { RunContext } from './scenario/context.ts'
import type { Scenario } from './scenario/scenario.ts'

export interface ScenarioResults {
  readonly rows: readonly Row[]
  readonly failures: readonly Failure[]
  /** By id, of all scenarios that were begun. */
  readonly seconds: ReadonlyMap<string, number>
}

interface Attempt {
  /** Undefined when the scenario did not come to its end. */
  readonly rows: readonly Row[] | undefined
  readonly failure?: Failure
}

export async function runScenarios(scenarios: readonly Scenario[], context: RunContext): Promise<ScenarioResults> {
  const rows: Row[] = []
  const failures: Failure[] = []
  const seconds = new Map<string, number>()
  const stopped = (): boolean => context.signal?.aborted ?? false
  for (const scenario of scenarios) {
    if (stopped()) {
      failures.push({ scenario: scenario.id, message: messageOf(context.signal?.reason) })
      break
    }
    const start = performance.now()
    const together = await attempt(scenario, context)
    const again = together.rows === undefined && context.backends.length > 1 && !stopped()
    const found = again ? await eachAlone(scenario, context, together.failure) : resultsOf(together)
    rows.push(...found.rows)
    failures.push(...found.failures)
    seconds.set(scenario.id, (performance.now() - start) / 1000)
  }
  return { rows, failures, seconds }
}

/**
 * A scenario measures all backends in the same rounds, so one that fails takes the others with it. They are measured
 * once more, each alone, against references of its own.
 */
async function eachAlone(
  scenario: Scenario,
  context: RunContext,
  together: Failure | undefined,
): Promise<{ readonly rows: readonly Row[]; readonly failures: readonly Failure[] }> {
  const all = context.backends
  const rows: Row[] = []
  const failures: Failure[] = []
  try {
    for (const backend of all) {
      context.narrow([backend])
      const found = resultsOf(await attempt(scenario, context))
      failures.push(...found.failures.map((failure) => ({ ...failure, backend: backend.name })))
      rows.push(...found.rows.filter((row) => row.role === 'backend' || !rows.some((one) => isSame(one, row))))
      if (context.signal?.aborted) break
    }
  } finally {
    context.narrow(all)
  }
  // The same for all of them, or for none: then it was not one backend.
  const messages = new Set(failures.map(({ message }) => message))
  const common = failures.length === 0 || (failures.length === all.length && messages.size === 1)
  return { rows, failures: common && together !== undefined ? [together] : failures }
}

function resultsOf({ rows = [], failure }: Attempt): {
  readonly rows: readonly Row[]
  readonly failures: readonly Failure[]
} {
  return { rows, failures: failure === undefined ? [] : [failure] }
}

function isSame(one: Row, other: Row): boolean {
  return one.id === other.id && one.backend === other.backend
}

async function attempt(scenario: Scenario, context: RunContext): Promise<Attempt> {
  let found: Attempt
  try {
    found = { rows: await unlessStuck(scenario.run(context)) }
  } catch (error) {
    found = { rows: undefined, failure: failureOf(scenario.id, error) }
  }
  try {
    await unlessStuck(context.endScenario())
  } catch (error) {
    // Mostly what the scenario failed with, once more; what was measured is kept all the same.
    found = { failure: failureOf(scenario.id, error), ...found }
  }
  return found
}

export function failureOf(scenario: string, error: unknown): Failure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  return { scenario, ...code, message: messageOf(error) }
}

/** Some errors of others recite everything that they have. */
const MESSAGE_MAX = 300

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)} …` : message
}
