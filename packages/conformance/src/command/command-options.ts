import { parseArgs } from 'node:util'
import type { Family, Tier } from '../conformance-case.ts'
import type { RunOptions } from '../run-options.ts'

export const REPORT_FORMATS = ['json', 'junit', 'html', 'badge'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** What the command is to run. Everything in it can be sent to another process. */
export interface RunCommand {
  readonly kind: 'run'
  readonly harnessPath: string
  /** Names of tiers, or modules that bring them. */
  readonly extensionPaths: readonly string[]
  readonly options: RunOptions
  /** Where reports go; undefined: only the text is printed. */
  readonly reports: { readonly directory: string; readonly formats: readonly ReportFormat[] } | undefined
}

export type Command =
  | RunCommand
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'list'; readonly extensionPaths: readonly string[] }
  | { readonly kind: 'wrong-usage'; readonly message: string }

export const HELP = `Tries a session persistence backend against the contract.

Usage: npx @session-persistence/conformance HARNESS [options]

HARNESS is a JavaScript module that exports \`harness\`, made with defineHarness.

  --family NAME,...   only these families (LIFE, APPEND, ...)
  --id ID,...         only these clauses (READ-3, ...)
  --tier NAME,...     only these tiers (logic, process, medium, io, power)
  --seed N            another seed for everything generated (default 1)
  --effort quick|full quick tries a sample of kills, damage and workloads (default full)
  --timeout SECONDS   longest time without progress in one case, and for one call of the harness
  --with io,power     tries these tiers too, by failing system calls and by power cuts (needs strace)
  --with MODULE       a module or an installed package that brings tiers; may be given again
  --report LIST       of json, junit, html, badge (default all when --out is given)
  --out DIR           where reports are written (default conformance-report)
  --list              print every clause and end
  --help, --version

Exit codes: 0 conforms, 1 violation, 2 error in harness or kit, 3 nothing ran.
`

/** The command that the arguments ask for. Never throws: what is wrong with them is a sentence. */
export function parseCommand(args: readonly string[]): Command {
  try {
    return commandOf(args)
  } catch (error) {
    return { kind: 'wrong-usage', message: error instanceof Error ? error.message : String(error) }
  }
}

function commandOf(args: readonly string[]): Command {
  const many = { type: 'string', multiple: true } as const
  const one = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      family: many,
      id: many,
      tier: many,
      seed: one,
      effort: one,
      timeout: one,
      with: many,
      report: many,
      out: one,
      list: flag,
      help: flag,
      version: flag,
    },
  })
  if (values.help === true) return { kind: 'help' }
  if (values.version === true) return { kind: 'version' }
  if (values.list === true) return { kind: 'list', extensionPaths: values.with ?? [] }
  const [harnessPath, ...more] = positionals
  if (harnessPath === undefined || more.length > 0) {
    throw new Error('Give one harness module: npx @session-persistence/conformance ./harness.js')
  }
  const timeoutMs = values.timeout === undefined ? undefined : 1000 * numberOf('--timeout', values.timeout)
  const effort = values.effort ?? 'full'
  if (effort !== 'quick' && effort !== 'full') throw new Error(`--effort is quick or full, not ${effort}.`)
  const [families, ids, tiers] = [listOf(values.family), listOf(values.id), listOf(values.tier)]
  return {
    kind: 'run',
    harnessPath,
    extensionPaths: values.with ?? [],
    options: {
      seed: values.seed === undefined ? 1 : numberOf('--seed', values.seed),
      effort,
      harnessPath,
      extensionNames: values.with ?? [],
      // What there is no such thing of is told by the run, with what there is.
      ...(families === undefined ? {} : { families: families as readonly Family[] }),
      ...(ids === undefined ? {} : { ids }),
      ...(tiers === undefined ? {} : { tiers: tiers as readonly Tier[] }),
      ...(timeoutMs === undefined ? {} : { caseDeadlineMs: timeoutMs, harnessDeadlineMs: timeoutMs }),
    },
    reports: reportsOf(listOf(values.report), values.out),
  }
}

function listOf(given: readonly string[] | undefined): readonly string[] | undefined {
  return given?.flatMap((list) => list.split(',')).filter((item) => item !== '')
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= 0) return number
  throw new Error(`${name} must be a whole number from 0, not ${text}.`)
}

function reportsOf(formats: readonly string[] | undefined, directory: string | undefined): RunCommand['reports'] {
  if (formats === undefined && directory === undefined) return undefined
  const wanted: readonly string[] = formats ?? REPORT_FORMATS
  const unknown = wanted.find((format) => !(REPORT_FORMATS as readonly string[]).includes(format))
  if (unknown !== undefined) throw new Error(`There is no report ${unknown}; there are ${REPORT_FORMATS.join(', ')}.`)
  return { directory: directory ?? 'conformance-report', formats: wanted as readonly ReportFormat[] }
}
