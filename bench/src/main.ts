/** `npm run bench -- [FILE...] [--quick] [--backend NAME] [--scenario ID] [--dir DIRECTORY] [--json FILE]`. */
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isSessionError, SessionError } from 'session-persistence'
import { gateCommand } from './gate/gate-command.ts'
import { oneLine } from './report/quantity.ts'
import { type BenchReport, readReport } from './report/report.ts'
import { COLOR_STYLE, PLAIN_STYLE, terminalReport } from './report/terminal-report.ts'
import { checkReportFiles, writeReports } from './report/write-reports.ts'
import { runApart } from './run-apart.ts'
import { partsOf, runBench } from './run-bench.ts'
import { stopSignal } from './stop-signal.ts'

const HELP = `Measures the backends against the physical limit and against their goals.

  npm run bench -- [FILE...] [options]

  FILE               a log of your own, or a directory of them: only these are measured, unless --scenario asks for more

  --quick            fewer rounds and shorter logs; wider intervals
  --backend NAME     only this backend, or the path of a harness module; may be repeated
  --scenario ID      only this scenario; may be repeated
  --peers            also install other stores from npm into a cache, and measure them beside these
  --dir DIRECTORY    where the stores are made (default: the system's temporary directory)
  --json FILE        also write the report as JSON
  --html FILE        also write it as one self-contained page with charts
  --svg DIRECTORY    also write each chart as an SVG
  --markdown FILE    put its table between the marks in this file
  --from FILE        measure nothing: show a report that --json wrote
  --help

  npm run bench -- gate --help      about the comparison with the committed baseline
`

/** Real logs that may lie beside a checkout; the ones with deltas. */
const CORPUS = fileURLToPath(new URL('../../../shared/corpus/dsh', import.meta.url))

const EXIT_FAILED = 1
const EXIT_USAGE = 2

interface Given {
  readonly files: readonly string[]
  readonly quick: boolean
  readonly peers: boolean
  readonly help: boolean
  readonly backend: readonly string[]
  readonly scenario: readonly string[]
  readonly dir: string | undefined
  readonly json: string | undefined
  readonly html: string | undefined
  readonly svg: string | undefined
  readonly markdown: string | undefined
  readonly from: string | undefined
}

function readArguments(): Given {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      backend: { type: 'string', multiple: true, default: [] },
      scenario: { type: 'string', multiple: true, default: [] },
      dir: { type: 'string' },
      json: { type: 'string' },
      html: { type: 'string' },
      svg: { type: 'string' },
      markdown: { type: 'string' },
      from: { type: 'string' },
    },
  })
  const { dir, json, html, svg, markdown, from } = values
  return { ...values, files: positionals, dir, json, html, svg, markdown, from }
}

async function main(): Promise<number> {
  if (process.argv[2] === 'gate') return gateCommand(process.argv.slice(3))
  const given = readArguments()
  if (given.help) {
    process.stdout.write(HELP)
    return 0
  }
  await checkReportFiles(given)
  const report = given.from === undefined ? await measure(given) : await readReport(textOf(given.from))
  process.stdout.write(terminalReport(report, process.stdout.isTTY ? COLOR_STYLE : PLAIN_STYLE))
  await writeReports(report, given)
  return report.partial ? EXIT_FAILED : 0
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (cause) {
    throw new SessionError('INVALID_ARGUMENT', `the report cannot be read: ${(cause as Error).message}`, { cause })
  }
}

async function measure(given: Given): Promise<BenchReport> {
  if (given.dir !== undefined) process.env.TMPDIR = given.dir
  const signal = stopSignal()
  const progress = (text: string): void => {
    const line = oneLine(text)
    process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${line}` : `${line}\n`)
  }
  const corpus = fs.existsSync(CORPUS) ? { corpus: CORPUS } : {}
  const asked = {
    backends: given.backend,
    scenarios: given.scenario,
    files: given.files,
    peers: given.peers,
    ...corpus,
  }
  const parts = await partsOf(asked)
  const common = [...given.backend.flatMap((name) => ['--backend', name]), ...(given.quick ? ['--quick'] : [])]
  const report =
    parts.length > 1
      ? await runApart(parts, { common, progress, signal })
      : await runBench({ ...asked, scale: given.quick ? 'quick' : 'full', signal, progress })
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[K')
  return report
}

let ended = false
process.once('exit', (code) => {
  if (ended || code !== 0) return
  process.stderr.write('a backend ended the process\n')
  process.exitCode = EXIT_FAILED
})
try {
  process.exitCode = await main()
} catch (error) {
  const named = isSessionError(error, 'INVALID_ARGUMENT') || isSessionError(error, 'NOT_FOUND')
  const usage = named || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`${oneLine(error instanceof Error ? error.message : String(error))}\n`)
  process.exitCode = usage ? EXIT_USAGE : EXIT_FAILED
} finally {
  ended = true
}
