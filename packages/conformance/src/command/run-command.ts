import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALL_CASES } from '../cases/all-cases.ts'
import { KIT_VERSION } from '../kit-version.ts'
import { badge } from '../report/badge.ts'
import { type ConformanceReport, EXIT_CODES } from '../report/conformance-report.ts'
import { htmlReport } from '../report/html-report.ts'
import { junitReport } from '../report/junit-report.ts'
import { formatReport } from '../report/text-report.ts'
import { sentenceOf } from '../short-value.ts'
import { endQuietly } from './closed-output.ts'
import { HELP, parseCommand, type ReportFormat, type RunCommand } from './command-options.ts'
import { loadExtensions, unknownExtension } from './load-module.ts'
import { watchRun } from './watch-run.ts'

const REPORT_FILES: { readonly [F in ReportFormat]: readonly [string, (report: ConformanceReport) => string] } = {
  json: ['conformance.json', (report) => `${JSON.stringify(report, null, 2)}\n`],
  junit: ['conformance.junit.xml', junitReport],
  html: ['conformance.html', htmlReport],
  badge: ['conformance.svg', badge],
}

/** Performs the command and resolves with its exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  endQuietly()
  const command = parseCommand(args)
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP)
      return 0
    case 'version':
      process.stdout.write(`${KIT_VERSION}\n`)
      return 0
    case 'list':
      return listCases(command.extensionPaths)
    case 'wrong-usage':
      process.stderr.write(`${command.message}\n\n${HELP}`)
      return EXIT_CODES['harness-error']
    case 'run':
      return runAndReport(command)
  }
}

async function listCases(extensionPaths: readonly string[]): Promise<number> {
  try {
    const brought = (await loadExtensions(extensionPaths)).flatMap(({ cases }) => cases)
    for (const { id, level, needs, title } of [...ALL_CASES, ...brought]) {
      process.stdout.write(`${id.padEnd(14)}${level.padEnd(7)}${needs.tier.padEnd(8)}${title}\n`)
    }
    return 0
  } catch (error) {
    process.stderr.write(`${sentenceOf(error)}\n`)
    return EXIT_CODES['harness-error']
  }
}

async function runAndReport(command: RunCommand): Promise<number> {
  const wrong = unknownExtension(command.extensionPaths) ?? prepareDirectory(command)
  if (wrong !== undefined) {
    process.stderr.write(`${wrong}\n`)
    return EXIT_CODES['harness-error']
  }
  const shown = process.stderr.isTTY
  const report = await watchRun(command, {
    printed: (text) => process.stderr.write(text),
    ...(shown ? { progress: (done, of) => process.stderr.write(`\r${done} of ${of} clauses`) } : {}),
  })
  if (shown) process.stderr.write('\r\u001b[K')
  const written = writeReports(command, report)
  const lines = formatReport(report).split('\n')
  // The counts stay the last line.
  lines.splice(-1, 0, ...written.map((path) => `written: ${path}`))
  process.stdout.write(`${lines.join('\n')}\n`)
  return EXIT_CODES[report.outcome]
}

function prepareDirectory({ reports }: RunCommand): string | undefined {
  if (reports === undefined) return undefined
  try {
    mkdirSync(reports.directory, { recursive: true })
    return undefined
  } catch (error) {
    return `The directory ${reports.directory} of --out could not be made: ${sentenceOf(error)}`
  }
}

function writeReports({ reports }: RunCommand, report: ConformanceReport): readonly string[] {
  return (reports?.formats ?? []).map((format) => {
    const [name, render] = REPORT_FILES[format]
    const path = join(reports?.directory ?? '.', name)
    writeFileSync(path, render(report))
    return path
  })
}
