/** `npm run bench -- gate`: compares with the committed baseline, or writes it anew. */
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { SessionError } from 'session-persistence'
import { findBackends } from '../backend/find-backends.ts'
import { temporaryDirectory } from '../backend/temporary-directory.ts'
import { threeDigits } from '../report/quantity.ts'
import { stopSignal } from '../stop-signal.ts'
import { combined } from './attempts.ts'
import {
  type Baseline,
  type ChangeFinding,
  type Finding,
  type GateMetric,
  isViolation,
  partOf,
  platformName,
} from './baseline.ts'
import { BaselineCode } from './baseline-code.ts'
import type { SeededSlowdown } from './cpu-metrics.ts'
import { type GateMetrics, type GateScope, measureGate } from './measure-gate.ts'
import { runGate } from './run-gate.ts'

const HELP = `Compares this code with the committed baseline (bench/baseline.json).

  npm run bench -- gate [options]

  --update                write the baseline anew, after a change that was meant
  --backend NAME          only this backend; may be repeated
  --slow METRIC=FACTOR    make a metric slower on purpose, to see the gate close; all=1.3 for every one of them
  --json FILE             also write findings and metrics as JSON
  --help
`

const BASELINE = fileURLToPath(new URL('../../baseline.json', import.meta.url))
/** On a busy machine the threads of a parallel collection wait for each other, and their waiting counts as CPU time. */
const STEADY = ['--single-threaded-gc']
export async function gateCommand(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      update: { type: 'boolean', default: false },
      backend: { type: 'string', multiple: true, default: [] },
      slow: { type: 'string' },
      json: { type: 'string' },
      // One measurement, as this command asks itself for it.
      measure: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (values.measure !== undefined) {
    const metrics = await measureGate(JSON.parse(values.measure) as GateScope)
    process.stdout.write(JSON.stringify(Object.fromEntries(metrics)))
    return 0
  }
  const progress = (text: string): void => {
    process.stderr.write(`${text}\n`)
  }
  // A part of a comparison says nothing.
  stopSignal().addEventListener('abort', () => {
    progress('interrupted')
    process.exit(1)
  })
  if (values.update) {
    await fs.writeFile(BASELINE, `${JSON.stringify(await takeBaseline(values.backend, progress), null, 2)}\n`)
    return 0
  }
  const slowdown = values.slow === undefined ? undefined : readSlowdown(values.slow)
  const committed = JSON.parse(await fs.readFile(BASELINE, 'utf8')) as Baseline
  const asked = values.backend
  const baseline =
    asked.length === 0 ? committed : partOf(committed, (name) => asked.includes(name.split(' ').at(-1) ?? ''))
  await using code = new BaselineCode(BASELINE)
  const result = await runGate({
    baseline,
    backends: asked,
    measure: (scope) => measureInChildren(scope),
    baselineCode: async () => {
      try {
        progress('preparing the code that the baseline was taken of')
        const program = await code.prepare()
        return (scope) => measureInChildren(scope, program)
      } catch (error) {
        progress(`the code of the baseline cannot be had, its figures decide: ${(error as Error).message}`)
        return undefined
      }
    },
    progress,
    ...(slowdown === undefined ? {} : { slowdown }),
  })
  for (const finding of result.findings) process.stdout.write(`${describe(finding)}\n`)
  const compared = Object.keys(baseline.metrics).length
  const worse = result.findings.filter(isViolation).length
  process.stdout.write(`Bench gate: ${compared - worse} of ${compared} metrics within their tolerance\n`)
  if (values.json !== undefined) {
    const report = { findings: result.findings, metrics: Object.fromEntries(result.metrics) }
    await fs.writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`)
  }
  return result.passed ? 0 : 1
}

/**
 * A process for each backend, however many are asked for: what is measured beside it changes how its code is compiled and
 * when memory is collected, by up to a third.
 */
async function measureInChildren(scope: GateScope, program = process.argv[1] ?? ''): Promise<GateMetrics> {
  const asked = scope.backends.length > 0 ? scope.backends : (await findBackends()).backends.map(({ name }) => name)
  const metrics = new Map<string, GateMetric>()
  for (const backend of asked) {
    for (const [name, metric] of await measureInChild({ ...scope, backends: [backend] }, program))
      metrics.set(name, metric)
  }
  return metrics
}

async function measureInChild(scope: GateScope, program: string): Promise<GateMetrics> {
  const directory = temporaryDirectory()
  const given = [...STEADY, program, 'gate', '--measure', JSON.stringify(scope)]
  const measuring = promisify(execFile)(process.execPath, given, { env: { ...process.env, TMPDIR: directory } })
  const kill = (): void => void measuring.child.kill('SIGKILL')
  // Before its stores are removed.
  process.prependOnceListener('exit', kill)
  try {
    const { stdout } = await measuring
    return new Map(Object.entries(JSON.parse(stdout) as { readonly [name: string]: GateMetric }))
  } finally {
    process.removeListener('exit', kill)
    await fs.rm(directory, { recursive: true, force: true })
  }
}

/** More measurements than the gate takes: what is off here is off in every run that follows. */
const BASELINE_RUNS = 15

/** Combined as the gate combines its own. */
async function takeBaseline(backends: readonly string[], progress: (text: string) => void): Promise<Baseline> {
  const runs: GateMetrics[] = []
  for (let run = 1; run <= BASELINE_RUNS; run++) {
    progress(`baseline, run ${run} of ${BASELINE_RUNS}`)
    runs.push(await measureInChildren({ backends, counts: run === 1, memory: true }))
  }
  const metrics = [...combined(runs)].map(
    ([name, metric]) => [name, { ...metric, value: Number(metric.value.toPrecision(4)) }] as const,
  )
  return {
    format: 'session-persistence-bench-baseline',
    version: 1,
    platform: platformName(),
    metrics: Object.fromEntries(metrics),
  }
}

function readSlowdown(text: string): SeededSlowdown {
  const [, metric, factor] = /^(.+)=([0-9.]+)$/.exec(text) ?? []
  if (metric === undefined || !(Number(factor) > 1)) {
    throw new SessionError('INVALID_ARGUMENT', '--slow takes METRIC=FACTOR, with a factor above 1')
  }
  return { metric, factor: Number(factor) }
}

function describe(finding: Finding): string {
  switch (finding.kind) {
    case 'worse':
      return `WORSE    ${change(finding)}`
    case 'better':
      return `better   ${change(finding)}: write the baseline anew, so that it guards this`
    case 'missing':
      return `MISSING  ${finding.metric}: in the baseline and not measured`
    case 'new':
      return `new      ${finding.metric}: ${threeDigits(finding.value)}, not in the baseline`
    case 'incomparable':
      return `skipped  ${finding.metric}: the baseline was taken on another platform, Node line or kind of processor`
  }
}

function change({ metric, baseline, value, tolerance }: ChangeFinding<string>): string {
  const times = baseline === 0 ? '' : `, ${threeDigits(value / baseline)} times (at most ${tolerance})`
  return `${metric}: ${threeDigits(value)}, was ${threeDigits(baseline)}${times}`
}
