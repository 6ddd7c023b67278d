import fs from 'node:fs/promises'
import { type BackendDescription, SessionError } from 'session-persistence'
import type { BenchBackend } from './backend/bench-backend.ts'
import { findBackends } from './backend/find-backends.ts'
import { temporaryDirectory } from './backend/temporary-directory.ts'
import { holdsInQuickRuns } from './goals/goals.ts'
import { readGivenLogs } from './input/given-logs.ts'
import { machineFacts } from './machine/machine-facts.ts'
import { type BenchReport, type Failure, REPORT_FORMAT, REPORT_VERSION } from './report/report.ts'
import type { Row } from './report/row.ts'
import { ALL_SCENARIOS } from './scenario/all-scenarios.ts'
import { RunContext } from './scenario/context.ts'
import { givenLogsScenario } from './scenario/given-logs.ts'
import { FULL, QUICK, type Scale } from './scenario/scale.ts'
import type { Scenario } from './scenario/scenario.ts'

export interface BenchOptions {
  /** Names of built-in backends or paths of harness modules; default all built-in ones. */
  readonly backends?: readonly string[]
  /** Ids of scenarios; default all; none when `files` are given. */
  readonly scenarios?: readonly string[]
  /** Logs of the user's own, in any format that can be imported; or directories of them. */
  readonly files?: readonly string[]
  /** Default `full`; tests give one of their own. */
  readonly scale?: 'full' | 'quick' | Scale
  /** Called when something new is begun. */
  readonly progress?: (text: string) => void
  /** Ends the run early: what was measured until then is in the report, marked as partial. */
  readonly signal?: AbortSignal
}

/**
 * Measures every scenario on every backend, in stores of its own under the system's temporary directory, which are
 * removed again. A scenario that fails is named in the report and ends nothing but itself. INVALID_ARGUMENT for a
 * scenario or backend that does not exist, and what `readLogs` of interchange throws for a file that is no log, before
 * anything is measured.
 */
export async function runBench(options: BenchOptions = {}): Promise<BenchReport> {
  const scenarios = [...findScenarios(options), ...(await fileScenarios(options))]
  const { backends, unavailable } = await findBackends(options.backends)
  const directory = await temporaryDirectory()
  const start = performance.now()
  const startedAt = new Date().toISOString()
  const scale = typeof options.scale === 'object' ? options.scale : options.scale === 'quick' ? QUICK : FULL
  const context = new RunContext({
    backends,
    scale,
    directory,
    signal: options.signal,
    progress: options.progress ?? (() => {}),
  })
  try {
    const machine = machineFacts(directory)
    const descriptions = await describeAll(backends)
    const { rows, failures } = await runScenarios(scenarios, context)
    return {
      format: REPORT_FORMAT,
      version: REPORT_VERSION,
      startedAt,
      seconds: (performance.now() - start) / 1000,
      scale: scale.name,
      partial: failures.length > 0,
      machine,
      backends: descriptions,
      unavailable,
      scenarios: scenarios.map(({ id, description }) => ({ id, description })),
      rows: scale.name === 'full' ? rows : rows.map(withoutGoalOfFullRuns),
      failures,
    }
  } finally {
    await context.close()
    await fs.rm(directory, { recursive: true, force: true })
  }
}

async function runScenarios(
  scenarios: readonly Scenario[],
  context: RunContext,
): Promise<{ readonly rows: readonly Row[]; readonly failures: readonly Failure[] }> {
  const rows: Row[] = []
  const failures: Failure[] = []
  for (const scenario of scenarios) {
    try {
      context.signal?.throwIfAborted()
      rows.push(...(await scenario.run(context)))
    } catch (error) {
      failures.push({ scenario: scenario.id, message: messageOf(error) })
    }
    try {
      await context.endScenario()
    } catch (error) {
      // Mostly what the scenario failed with, once more; what was measured is kept all the same.
      if (failures.at(-1)?.scenario !== scenario.id) failures.push({ scenario: scenario.id, message: messageOf(error) })
    }
  }
  return { rows, failures }
}

/** On a shorter log fixed costs weigh more: the ratio is shown, and not judged. */
function withoutGoalOfFullRuns(row: Row): Row {
  return holdsInQuickRuns(row.id) ? row : { ...row, goal: undefined, verdict: { kind: 'none' } }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function findScenarios({ scenarios = [], files = [] }: BenchOptions): readonly Scenario[] {
  if (scenarios.length === 0) return files.length === 0 ? ALL_SCENARIOS : []
  return scenarios.map((id) => {
    const found = ALL_SCENARIOS.find((scenario) => scenario.id === id)
    if (found !== undefined) return found
    const known = ALL_SCENARIOS.map((scenario) => scenario.id).join(', ')
    throw new SessionError('INVALID_ARGUMENT', `no scenario is named ${JSON.stringify(id)}; known: ${known}`)
  })
}

async function fileScenarios({ files = [], signal }: BenchOptions): Promise<readonly Scenario[]> {
  const scenarios: Scenario[] = []
  for (const [index, file] of files.entries()) {
    const given = await readGivenLogs(file, signal)
    if (given.logs.length === 0) {
      throw new SessionError('INVALID_ARGUMENT', `${file} holds no log that can be read`, { path: file })
    }
    scenarios.push(givenLogsScenario(`logs-${index + 1}`, given))
  }
  return scenarios
}

/** Modes as the opened backends report them. */
async function describeAll(
  backends: readonly BenchBackend[],
): Promise<{ readonly name: string; readonly description: BackendDescription }[]> {
  const described: { readonly name: string; readonly description: BackendDescription }[] = []
  for (const backend of backends) {
    const medium = await backend.createMedium()
    try {
      const persistence = await medium.open()
      described.push({ name: backend.name, description: persistence.description })
      await persistence.close()
    } finally {
      await medium.destroy?.()
    }
  }
  return described
}
