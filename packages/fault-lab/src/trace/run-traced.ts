/** Runs a writer process, under strace where wanted. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type StruckCalls, straceCommand, TRACED_ENVIRONMENT } from '@session-persistence/conformance/crash-states'
import { parseLines, type WriterLine, type WriterTask } from '../real/writer-task.ts'
import { sessionsIn } from '../scenario/sessions-directory.ts'

/** The built program: Node 20 runs no TypeScript. */
export const WRITER_PROGRAM: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const ENVIRONMENT = { ...process.env, ...TRACED_ENVIRONMENT }

export function isInstalled(command: string): boolean {
  return spawnSync(command, ['-V'], { stdio: 'ignore' }).error === undefined
}

/** No task takes that long: a process that does is killed, and what it said is judged. */
const HANGING_MS = 60_000

export interface RunOptions {
  /** Command before `node`: `prlimit --fsize=1000`. */
  readonly under?: readonly string[]
  /** Hears every line at once. */
  readonly onLine?: (line: WriterLine, run: RunningWriter) => void
}

export interface RunningWriter {
  readonly pid: number
  kill(): void
  /** One line on its input. */
  tell(): void
}

export interface WriterRun {
  readonly lines: readonly WriterLine[]
  readonly stderr: string
  readonly signal: NodeJS.Signals | null
}

export function runWriter(task: WriterTask, { under = [], onLine }: RunOptions = {}): Promise<WriterRun> {
  const [command = process.execPath, ...args] = [...under, process.execPath, WRITER_PROGRAM, JSON.stringify(task)]
  const child = spawn(command, args, { env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'pipe'] })
  const running: RunningWriter = {
    pid: child.pid ?? 0,
    kill: () => {
      child.kill('SIGKILL')
    },
    tell: () => {
      child.stdin.write('\n')
    },
  }
  let said = ''
  let heard = 0
  let stderr = ''
  child.stdin.on('error', () => {})
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString()
  })
  child.stdout.on('data', (data: Buffer) => {
    said += data.toString()
    if (onLine === undefined) return
    const lines = parseLines(said)
    for (; heard < lines.length; heard++) {
      const line = lines[heard]
      if (line !== undefined) onLine(line, running)
    }
  })
  const hanging = setTimeout(() => child.kill('SIGKILL'), HANGING_MS)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (_, signal) => {
      clearTimeout(hanging)
      resolve({ lines: parseLines(said), stderr, signal })
    })
  })
}

export interface TracedRun extends WriterRun {
  readonly trace: string
}

export async function runTraced(task: WriterTask, output: string, struck?: StruckCalls): Promise<TracedRun> {
  const under = straceCommand({ output, ...(struck === undefined ? {} : { struck }) })
  const run = await runWriter(task, { under })
  return { ...run, trace: readFileSync(output, 'latin1') }
}

/** Where a backend's data stands below a directory. */
export function rootOf(directory: string): string {
  return sessionsIn(directory)
}
