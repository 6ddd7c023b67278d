import fs from 'node:fs/promises'
import type { Unpacker } from '@session-persistence/interchange'
import { isSessionError, SessionError } from 'session-persistence'
import type { BenchBackend } from './backend/bench-backend.ts'
import { findBackends } from './backend/find-backends.ts'
import { temporaryDirectory } from './backend/temporary-directory.ts'
import { holdsInQuickRuns } from './goals/goals.ts'
import { readGivenLogs } from './input/given-logs.ts'
import { machineFacts } from './machine/machine-facts.ts'
import { unlessStuck } from './measure/unless-stuck.ts'
import { installPeers } from './peer/install-peers.ts'
import { NO_PEERS } from './peer/peer.ts'
import { type BenchReport, type Failure, type MeasuredBackend, REPORT_FORMAT, REPORT_VERSION } from './report/report.ts'
import type { Row } from './report/row.ts'
import type { Part } from './run-apart.ts'
import { failureOf, runScenarios } from './run-scenarios.ts'
import { ALL_SCENARIOS } from './scenario/all-scenarios.ts'
import { RunContext } from './scenario/context.ts'
import { givenLogsScenario } from './scenario/given-logs.ts'
import { peersScenario } from './scenario/peers.ts'
import { FULL, QUICK, type Scale } from './scenario/scale.ts'
import type { Scenario } from './scenario/scenario.ts'

/** What failures name that belong to no scenario. */
const OPEN = 'opening'
const CLEAN_UP = 'clean-up'
/** Name of the scenario over `corpus`. */
const CORPUS = 'corpus'
/** Name of the scenario that `peers` adds. */
const PEERS = 'peers'

export interface BenchOptions {
  /** Names of built-in backends or paths of harness modules; default all built-in ones. */
  readonly backends?: readonly string[]
  /** Ids of scenarios; default all; none when `files` are given. */
  readonly scenarios?: readonly string[]
  /** Logs of the user's own, in any format that can be imported; or directories of them. */
  readonly files?: readonly string[]
  /** A directory of real logs, measured beside the generated ones where it is there. */
  readonly corpus?: string
  /** Takes files apart before they are read, such as compressed ones. */
  readonly unpackers?: readonly Unpacker[]
  /** Also installs and measures other stores; where they cannot be installed the report says so. */
  readonly peers?: boolean
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
  const known = [...findScenarios(options), ...(await corpusScenario(options)), ...(await fileScenarios(options))]
  const { backends, unavailable: lacking } = await findBackends(options.backends)
  const directory = temporaryDirectory()
  const start = performance.now()
  const startedAt = new Date().toISOString()
  const scale = typeof options.scale === 'object' ? options.scale : options.scale === 'quick' ? QUICK : FULL
  const peers = options.peers ? await findPeers(options) : { scenarios: [], unavailable: [] }
  const scenarios = [...known, ...peers.scenarios]
  const unavailable = [...lacking, ...peers.unavailable]
  const context = new RunContext({
    backends,
    scale,
    directory,
    signal: options.signal,
    progress: options.progress ?? (() => {}),
  })
  const cleanUp = async (): Promise<readonly Failure[]> => {
    const failures: Failure[] = []
    for (const step of [() => context.close(), () => fs.rm(directory, { recursive: true, force: true })]) {
      await unlessStuck(step()).catch((error: unknown) => failures.push(failureOf(CLEAN_UP, error)))
    }
    return failures
  }
  try {
    const machine = machineFacts(directory)
    const described = await describeAll(backends)
    context.narrow(backends.filter(({ name }) => described.backends.some((backend) => backend.name === name)))
    const { rows, failures: failed, seconds } = await runScenarios(scenarios, context)
    // A store that cannot be closed says so, and takes nothing that was measured with it.
    const failures = [...described.failures, ...failed, ...(await cleanUp())]
    return {
      format: REPORT_FORMAT,
      version: REPORT_VERSION,
      startedAt,
      seconds: (performance.now() - start) / 1000,
      scale: scale.name,
      partial: failures.length > 0,
      machine,
      backends: described.backends,
      unavailable,
      scenarios: scenarios.map(({ id, description, caution }) => {
        const took = seconds.get(id)
        const facts = { id, description, ...(caution === undefined ? {} : { caution }) }
        return took === undefined ? facts : { ...facts, seconds: took }
      }),
      rows: scale.name === 'full' ? rows : rows.map(withoutGoalOfFullRuns),
      failures,
    }
  } catch (error) {
    await cleanUp()
    throw error
  }
}

/** On a shorter log fixed costs weigh more: the ratio is shown, and not judged. */
function withoutGoalOfFullRuns(row: Row): Row {
  return holdsInQuickRuns(row.id) ? row : { ...row, goal: undefined, verdict: { kind: 'none' } }
}

/** What a run consists of, scenario by scenario, as arguments of the command. INVALID_ARGUMENT as `runBench`. */
export async function partsOf(
  options: Pick<BenchOptions, 'backends' | 'scenarios' | 'files' | 'corpus' | 'peers'>,
): Promise<readonly Part[]> {
  const { scenarios = [], files = [], corpus, peers = false } = options
  await findBackends(options.backends)
  findScenarios(options)
  const all = files.length === 0 ? ALL_SCENARIOS.map(({ id }) => id) : []
  const withCorpus = corpus === undefined || files.length > 0 ? all : [...all, CORPUS]
  const ids = new Set(scenarios.length === 0 ? withCorpus : scenarios)
  if (peers) ids.add(PEERS)
  const generated = [...ids].map((id) => ({ id, args: ['--scenario', id, ...(id === PEERS ? ['--peers'] : [])] }))
  return files.length === 0 ? generated : [{ id: 'logs', args: files }, ...generated]
}

function findScenarios({ scenarios = [], files = [], corpus, peers = false }: BenchOptions): readonly Scenario[] {
  if (scenarios.length === 0) return files.length === 0 ? ALL_SCENARIOS : []
  const generated = scenarios.filter((id) => (id !== CORPUS || corpus === undefined) && (id !== PEERS || !peers))
  return generated.map((id) => {
    const found = ALL_SCENARIOS.find((scenario) => scenario.id === id)
    if (found !== undefined) return found
    const known = ALL_SCENARIOS.map((scenario) => scenario.id).join(', ')
    throw new SessionError('INVALID_ARGUMENT', `no scenario is named ${JSON.stringify(id)}; known: ${known}`)
  })
}

/** The scenario of the peers, where they can be installed, and whom it leaves out. */
async function findPeers({ progress = () => {}, signal }: BenchOptions): Promise<{
  readonly scenarios: readonly Scenario[]
  readonly unavailable: BenchReport['unavailable']
}> {
  try {
    return { scenarios: [peersScenario(await installPeers(progress, signal))], unavailable: NO_PEERS }
  } catch (error) {
    const said = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return {
      scenarios: [],
      unavailable: [{ name: 'peers', reason: `they could not be installed: ${said}` }, ...NO_PEERS],
    }
  }
}

/** With everything, or when it is asked for by name. */
async function corpusScenario({
  corpus,
  scenarios = [],
  files = [],
  signal,
}: BenchOptions): Promise<readonly Scenario[]> {
  const wanted = scenarios.length === 0 ? files.length === 0 : scenarios.includes(CORPUS)
  if (corpus === undefined || !wanted) return []
  const given = await readGivenLogs(corpus, signal === undefined ? {} : { signal })
  return [givenLogsScenario(CORPUS, given)]
}

async function fileScenarios({ files = [], signal, unpackers }: BenchOptions): Promise<readonly Scenario[]> {
  const scenarios: Scenario[] = []
  for (const [index, file] of files.entries()) {
    const given = await readGivenLogs(file, {
      ...(signal === undefined ? {} : { signal }),
      ...(unpackers === undefined ? {} : { unpackers }),
    })
    if (given.logs.length === 0) {
      throw new SessionError('INVALID_ARGUMENT', `${file} holds no log that can be read`, { path: file })
    }
    scenarios.push(givenLogsScenario(`logs-${index + 1}`, given))
  }
  return scenarios
}

/** Modes as the opened backends report them. One that cannot be opened is left out; all of them: the error of the first. */
async function describeAll(
  backends: readonly BenchBackend[],
): Promise<{ readonly backends: readonly MeasuredBackend[]; readonly failures: readonly Failure[] }> {
  const described: MeasuredBackend[] = []
  const failures: Failure[] = []
  let first: Error | undefined
  for (const backend of backends) {
    try {
      described.push(await unlessStuck(describe(backend)))
    } catch (error) {
      const failure = failureOf(OPEN, error)
      first ??= isSessionError(error) ? error : new Error(`${backend.name}: ${failure.message}`, { cause: error })
      failures.push({ ...failure, backend: backend.name })
    }
  }
  if (described.length === 0) throw first
  return { backends: described, failures }
}

async function describe(backend: BenchBackend): Promise<MeasuredBackend> {
  const { name, column, packs } = backend
  const heldTo = { ...(column === undefined ? {} : { column }), ...(packs === undefined ? {} : { packs }) }
  const medium = await backend.createMedium()
  try {
    const persistence = await medium.open()
    const { description } = persistence
    await persistence.close()
    return { name, ...heldTo, description }
  } finally {
    await medium.destroy?.()
  }
}
