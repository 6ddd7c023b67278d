import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type CaseResult, type ConformanceReport, summarize } from '../report/conformance-report.ts'
import type { RunCommand } from './command-options.ts'
import type { RunMessage } from './run-message.ts'

/** Longest silence of the event loop. Synchronous drivers block it for a while; nothing sound does so for a minute. */
const BLOCKED_MS = 60_000

const childFile = fileURLToPath(new URL('./run-in-child.js', import.meta.url))

export interface Watching {
  /** Hears every result, for a line of progress. */
  readonly progress?: (done: number, of: number) => void
  /** Hears what the harness prints, stacks taken out. */
  readonly printed?: (text: string) => void
}

/** Runs the cases in a process of their own. Resolves with a report whatever becomes of that process. */
export async function watchRun(command: RunCommand, watching: Watching = {}): Promise<ConformanceReport> {
  const child = fork(childFile, [], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] })
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => watching.printed?.(withoutStacks(text)))
  }
  const watch = new RunWatch(command, child, watching)
  return watch.report
}

class RunWatch {
  readonly report: Promise<ConformanceReport>
  readonly #command: RunCommand
  readonly #results: CaseResult[] = []
  #final: ConformanceReport | undefined
  #sentence: string | undefined
  #doing = 'before anything was run'
  #heardAt = performance.now()

  constructor(command: RunCommand, child: ChildProcess, watching: Watching) {
    this.#command = command
    const { caseDeadlineMs } = command.options
    const patienceMs = caseDeadlineMs === undefined ? BLOCKED_MS : 2 * caseDeadlineMs
    const timer = setInterval(() => {
      if (performance.now() - this.#heardAt < patienceMs) return
      this.#sentence ??= `The harness blocked the event loop for more than ${patienceMs / 1000} s ${this.#doing}: a loop that does not end, or a synchronous call that does not return.`
      child.kill('SIGKILL')
    }, patienceMs / 10)
    this.report = new Promise<ConformanceReport>((resolve) => {
      child.on('error', (error) => {
        this.#sentence ??= `The process that runs the cases could not be started: ${error.message}`
      })
      child.on('message', (message) => this.#hear(message as RunMessage, watching))
      child.on('close', (code, signal) => {
        clearInterval(timer)
        resolve(this.#final ?? this.#withoutVerdict(code, signal))
      })
    })
    child.send(command)
  }

  #hear(message: RunMessage, watching: Watching): void {
    this.#heardAt = performance.now()
    if (message.kind === 'now') this.#doing = message.doing
    if (message.kind === 'harness-error') this.#sentence ??= message.sentence
    if (message.kind === 'report') this.#final = message.report
    if (message.kind !== 'result') return
    this.#results.push(message.result)
    watching.progress?.(message.done, message.of)
  }

  /** The process ended without a report. */
  #withoutVerdict(code: number | null, signal: NodeJS.Signals | null): ConformanceReport {
    const { harnessPath, options } = this.#command
    const how = signal === null ? `ended it with exit code ${code}` : `was killed by ${signal}`
    const blame =
      signal === null
        ? 'nothing in harness and backend may call process.exit'
        : 'a native module crashed, or memory ran out'
    return summarize({
      harness: harnessPath,
      backend: undefined,
      seed: options.seed ?? 1,
      effort: options.effort ?? 'full',
      harnessError: this.#sentence ?? `The process that ran the harness ${how} ${this.#doing}: ${blame}.`,
      results: this.#results,
      tierReasons: new Map(),
    })
  }
}

/** Where in someone else's code something was thrown helps nobody who reads this output. */
function withoutStacks(text: string): string {
  return text.replace(/^ +at .*(?:\n|$)/gm, '')
}
