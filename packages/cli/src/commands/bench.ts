import { SESSION_ERROR_CODES, SessionError, type SessionErrorCode } from '@session-persistence/core'
import { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import { rememberFailure } from '../remember-failure.ts'
import type { Runtime } from '../runtime.ts'
import { systemError } from '../system-error.ts'
import { Progress } from '../terminal/progress.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { zstdFiles } from '../zstd-files.ts'

interface BenchCommandOptions {
  readonly backend: readonly string[]
  readonly scenario: readonly string[]
  readonly quick?: true
  readonly peers?: true
  readonly dir?: string
  readonly html?: string
  readonly json?: true
}

const gathered = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export function benchCommand(runtime: Runtime): Command {
  return new Command('bench')
    .description('measure the backends: on logs of your own, or on generated ones')
    .argument('[file...]', 'logs of any format that import reads, or directories of them')
    .option('--backend <name>', 'only this one, or the path of a harness module; may be repeated', gathered, [])
    .option('--scenario <id>', 'only this one; may be repeated', gathered, [])
    .option('--quick', 'fewer rounds, shorter logs, wider intervals')
    .option('--peers', 'also install other stores from npm into a cache, and measure them beside these')
    .option('--dir <directory>', "where the stores are made; default: the system's temporary directory")
    .option('--html <file>', 'also write the report as one page with charts')
    .option('--json', 'one JSON document, the report')
    .addHelpText(
      'after',
      `
With FILE only those logs are measured, unless --scenario asks for more; without one everything is, which takes ten
minutes; a log of fewer than 1,000 events says little, and the report says so. Run it where nothing else runs. Every number is a ratio to a reference of the same run; docs/bench.md says how to
read it. A backend that fails does not keep the others out: the report is marked as partial, and the exit code is 3 in
the end. Stopped with Ctrl-C, it shows what it has.

Examples:
  session-persistence bench ~/.claude/projects/my-project/0197c3f2.jsonl
  session-persistence bench --quick --backend jsonl --backend sqlite --scenario append --scenario replay
  session-persistence bench --backend ./acme-harness.js --html acme.html`,
    )
    .action((files: readonly string[], options: BenchCommandOptions) => bench(runtime, files, options))
}

async function bench(runtime: Runtime, files: readonly string[], options: BenchCommandOptions): Promise<void> {
  const { out, err, signal } = runtime
  const { backend, scenario, quick, peers, dir, html, json } = options
  // Loaded here, so that help and other commands start without it.
  const { checkReportFiles, COLOR_STYLE, PLAIN_STYLE, runBench, terminalReport, writeReports } = await import(
    '@session-persistence/bench'
  )
  await checkReportFiles({ html })
  if (dir !== undefined) process.env.TMPDIR = dir
  using progress = new Progress(err)
  const report = await runBench({
    files,
    backends: backend,
    scenarios: scenario,
    scale: quick ? 'quick' : 'full',
    ...(peers ? { peers } : {}),
    unpackers: [zstdFiles],
    signal,
    progress: (text) => progress.show(() => `${safeLine(text)} …`),
  })
  progress[Symbol.dispose]()
  const coloured = out.style.bold('x') !== 'x'
  await out.write(json ? `${safeJson(report)}\n` : terminalReport(report, coloured ? COLOR_STYLE : PLAIN_STYLE))
  if (html !== undefined) {
    await writeReports(report, { html }).catch((error: unknown) => {
      throw systemError(error, 'the page could not be written', html)
    })
  }
  // Interrupted: what there is was shown, and the exit code says the rest.
  if (signal.aborted) return
  for (const { scenario: id, backend: name, code, message } of report.failures) {
    const where = name === undefined ? id : `${id}, ${name}`
    await rememberFailure(runtime, new SessionError(codeOf(code), `${where}: ${message}`))
  }
  if (report.partial) runtime.exitCode = EXIT.failed
}

/** Of a failure in a report: a code of ours, or of the operating system. */
function codeOf(code = ''): SessionErrorCode {
  if (Object.hasOwn(SESSION_ERROR_CODES, code)) return code as SessionErrorCode
  const failure = systemError(Object.assign(new Error(code), { code }), '', '')
  return failure instanceof SessionError ? failure.code : 'IO'
}
