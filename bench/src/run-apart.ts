/**
 * Several scenarios, each in a process of its own: what ran before changes how code is compiled and how full the heap is,
 * and made replays a third slower than they are in a program that does nothing else.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { SessionError } from 'session-persistence'
import { temporaryDirectory } from './backend/temporary-directory.ts'
import { mergeReports } from './report/merge-reports.ts'
import { type BenchReport, type Failure, readReport } from './report/report.ts'

/** The built program: plain Node runs no TypeScript. */
const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const EXIT_FAILED = 1
const EXIT_USAGE = 2

/** A part of a run. */
export interface Part {
  /** Of its scenario, or what stands for it in failures. */
  readonly id: string
  /** Arguments of the command that make it run this part alone. */
  readonly args: readonly string[]
}

export interface ApartOptions {
  /** Arguments that all parts have. */
  readonly common: readonly string[]
  readonly progress: (text: string) => void
  /** Ends the part that runs, which reports what it has, and begins no other. */
  readonly signal: AbortSignal
}

/**
 * The parts in their order, and one report of all. A part that ends without a report is a failure of its own.
 * INVALID_ARGUMENT when one of them was not asked for rightly.
 */
export async function runApart(parts: readonly Part[], options: ApartOptions): Promise<BenchReport> {
  const start = performance.now()
  const directory = temporaryDirectory()
  const reports: BenchReport[] = []
  const failures: Failure[] = []
  try {
    for (const { id, args } of parts) {
      if (options.signal.aborted) {
        failures.push({ scenario: id, message: 'interrupted' })
        break
      }
      const file = path.join(directory, `${reports.length + failures.length}.json`)
      settle(directory)
      const stores = path.join(directory, 'stores')
      fs.mkdirSync(stores)
      const ended = await runPart([...args, ...options.common, '--json', file], stores, options)
      // Empty, unless it was killed.
      fs.rmSync(stores, { recursive: true })
      if (ended.code === EXIT_USAGE) throw new SessionError('INVALID_ARGUMENT', ended.lastLine)
      if (fs.existsSync(file)) reports.push(await readReport(fs.readFileSync(file, 'utf8')))
      else failures.push({ scenario: id, message: `the measuring process ${howItEnded(ended)}` })
    }
  } finally {
    fs.rmSync(directory, { recursive: true, force: true })
  }
  const [first, ...rest] = reports
  if (first === undefined) throw new Error(failures[0]?.message ?? 'nothing was measured')
  const merged = mergeReports([first, ...rest], (performance.now() - start) / 1000)
  if (failures.length === 0) return merged
  return { ...merged, partial: true, failures: [...merged.failures, ...failures] }
}

/** What the part before left to the file system, such as ten thousand removed files, is not written at the cost of the next one. */
function settle(directory: string): void {
  // There directories have no such call.
  if (process.platform === 'win32') return
  const descriptor = fs.openSync(directory, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

interface Ended {
  /** The name of the signal that ended it, or its exit code. */
  readonly code: number | string | null
  /** Of what it said on standard error. */
  readonly lastLine: string
}

function howItEnded({ code, lastLine }: Ended): string {
  if (code === EXIT_FAILED) return `failed: ${lastLine}`
  const after = lastLine === '' ? '' : `, after it had begun: ${lastLine}`
  return `${typeof code === 'string' ? `was killed by ${code}` : `ended with code ${code} before it reported`}${after}`
}

function runPart(args: readonly string[], stores: string, { progress, signal }: ApartOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // In a group of its own: Ctrl-C in a terminal reaches this process alone, which passes it on once.
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
      env: { ...process.env, TMPDIR: stores },
    })
    const interrupt = (): void => void child.kill('SIGINT')
    // As if it were told twice: it removes what it made.
    const kill = (): void => void (child.kill('SIGINT') && child.kill('SIGTERM'))
    signal.addEventListener('abort', interrupt, { once: true })
    process.once('exit', kill)
    let lastLine = ''
    let unended = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (unended + text).split('\n')
      unended = lines.pop() ?? ''
      for (const line of lines) {
        lastLine = line
        progress(line)
      }
    })
    child.on('error', reject)
    child.on('close', (code, ended) => {
      signal.removeEventListener('abort', interrupt)
      process.removeListener('exit', kill)
      resolve({ code: ended ?? code, lastLine })
    })
  })
}
