import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunningCase } from './case-context.ts'
import { CaseNotApplicable, CaseSkipped, type ConformanceCase, type Tier } from './conformance-case.ts'
import { PATIENCE, withPatience } from './deadline.ts'
import { escapedRejections } from './escaped-rejections.ts'
import { Violation } from './expectation.ts'
import { type Harness, HarnessError } from './harness.ts'
import { kitError } from './kit-error.ts'
import type { CaseResult, FailureReport } from './report/conformance-report.ts'
import type { RunOptions } from './run-options.ts'
import { sentenceOf } from './short-value.ts'
import { systemCallTiers } from './tiers/system-call-tiers.ts'
import { usualCause } from './usual-causes.ts'

/** Milliseconds in which something must happen in a case, unless it says more. */
const CASE_DEADLINE_MS = 30_000

/** The same where another process has to start first, which takes a busy machine a while. */
const PROCESS_CASE_DEADLINE_MS = 120_000

/** Milliseconds in which something must happen in a case. */
export function deadlineOf({ needs }: ConformanceCase): number {
  if (needs.tier === 'process') return Math.max(needs.timeoutMs ?? 0, PROCESS_CASE_DEADLINE_MS)
  return needs.timeoutMs ?? CASE_DEADLINE_MS
}

/** What became of one case. */
export type Verdict = Pick<CaseResult, 'status' | 'message' | 'failure' | 'digest' | 'tried' | 'knownFailure'>

/** Runs one case to its end, or until nothing happens in it any more. Rejects only for what is wrong with the harness. */
export async function tryCase(
  conformanceCase: ConformanceCase,
  running: RunningCase,
  harness: Harness,
  options: RunOptions,
): Promise<Verdict> {
  const deadlineMs = options.caseDeadlineMs ?? deadlineOf(conformanceCase)
  try {
    const attempt = (): Promise<void> => {
      const late = (wentOn: boolean): Violation => (wentOn ? new TooSlow(deadlineMs) : new Stalled(deadlineMs))
      return withPatience(conformanceCase.run(running.context), deadlineMs, () => running.progress(), late)
    }
    const escaped = options.watchRejections === true ? await escapedRejections(attempt) : await attempt()
    if (escaped?.[0] !== undefined) throw new Violation(`a rejection that nobody could handle: ${escaped[0]}`)
    const [digest, tried] = [running.digest(), running.tried()]
    return { status: 'passed', ...(digest && { digest }), ...(tried && { tried }) }
  } catch (error) {
    if (error instanceof HarnessError) throw error
    if (error instanceof CaseSkipped) return { status: 'skipped', message: error.message }
    if (error instanceof CaseNotApplicable) return { status: 'not-applicable', message: error.message }
    const ofKit = kitError(error, conformanceCase.id, (one) => running.history.isOfBackend(one))
    if (ofKit !== undefined) throw ofKit
    const message = describeFailure(error)
    const failure: FailureReport = {
      message,
      window: error instanceof Violation ? error.window : [],
      history: running.history.lines(),
      // Time says nothing of what a clause is about.
      usualCause: error instanceof TooSlow ? '' : usualCause(conformanceCase),
      repeat: repeatCommand(conformanceCase, harness, options),
    }
    return { status: 'failed', message, failure }
  }
}

/** Nothing happened any more. */
class Stalled extends Violation {
  constructor(deadlineMs: number) {
    super(`nothing happened within ${deadlineMs / 1000} s: something never settles (\`--timeout\` waits longer)`)
  }
}

/** Operations went on to the last. */
class TooSlow extends Violation {
  constructor(deadlineMs: number) {
    const seconds = (PATIENCE * deadlineMs) / 1000
    super(
      `not done after ${seconds} s, and operations still went on: too slow, or without end; \`--timeout\` gives it more, ${PATIENCE} times as many seconds as it says`,
    )
  }
}

/** A failure that is listed stays a failure, but is not red; one that is listed and passes is. */
export function knownVerdict(verdict: Verdict, id: string, { knownFailures = {} }: Harness): Verdict {
  const knownFailure = Object.hasOwn(knownFailures, id) ? knownFailures[id] : undefined
  if (knownFailure === undefined) return verdict
  switch (verdict.status) {
    case 'failed':
      return { ...verdict, status: 'known-failure', knownFailure }
    case 'passed':
      return { ...verdict, status: 'failed', knownFailure, message: 'passes by now: take it off `knownFailures`' }
    default:
      return verdict
  }
}

/** A violation speaks for itself; anything else was thrown where the case expected none. */
function describeFailure(error: unknown): string {
  if (error instanceof Violation) return cutShort(error.message)
  if (!(error instanceof Error)) return `unexpected throw of ${typeof error}`
  return `unexpected ${error.name}: ${sentenceOf(error)}`
}

/** Characters of one line: enough for two values, each cut short already, and what is said of them. */
const MESSAGE_CHARACTERS = 600

function cutShort(message: string): string {
  if (message.length <= MESSAGE_CHARACTERS) return message
  return `${message.slice(0, MESSAGE_CHARACTERS)}... (${message.length} characters)`
}

function repeatCommand({ id, needs }: ConformanceCase, harness: Harness, options: RunOptions): string {
  const { seed = 1, effort = 'full', harnessPath } = options
  const path = harnessPath ?? modulePath(harness.module) ?? './harness.js'
  const quick = effort === 'quick' ? ' --effort quick' : ''
  const brought = bringing(needs.tier, options).map((name) => ` --with ${name}`)
  return `npx @session-persistence/conformance ${path}${brought.join('')} --id ${id} --seed ${seed}${quick}`
}

/** What the command has to be given for this tier. */
function bringing(tier: Tier, { extensions = [], extensionNames }: RunOptions): readonly string[] {
  const extension = extensions.find((one) => one.tier === tier)
  if (extension === undefined) return []
  return extensionNames ?? (systemCallTiers.includes(extension) ? [tier] : [])
}

function modulePath(module: string | undefined): string | undefined {
  if (module === undefined || !module.startsWith('file:')) return undefined
  const path = relative(process.cwd(), fileURLToPath(module))
  return path.startsWith('..') ? path : `./${path}`
}
