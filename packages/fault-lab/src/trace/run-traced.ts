/** Runs a writer process, under strace where wanted. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseLines, type WriterLine, type WriterTask } from '../real/writer-task.ts'

/** The built program: Node 20 runs no TypeScript. */
export const WRITER_PROGRAM: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** What changes a file system or promises something. */
const TRACED = 'openat,write,writev,pwrite64,lseek,fsync,fdatasync,ftruncate,unlink,rmdir,rename,link,mkdir,close'

/** One pool thread and no io_uring: calls are then counted, and injected, in one order. */
const ENVIRONMENT = { ...process.env, UV_THREADPOOL_SIZE: '1', UV_USE_IO_URING: '0' }

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

/** A rule in strace's own words, `fsync:error=EIO:when=3`; for calls on these paths, or on any. */
export interface SyscallFault {
  readonly rule: string
  readonly paths: readonly string[]
}

export async function runTraced(task: WriterTask, traceFile: string, inject?: SyscallFault): Promise<TracedRun> {
  const filter =
    inject === undefined ? [] : [...inject.paths.flatMap((path) => ['-P', path]), '-e', `inject=${inject.rule}`]
  // Stops at nothing but the traced calls, twice as fast; but then strace sends no signals.
  const fast = inject?.rule.includes('signal=') === true ? [] : ['--seccomp-bpf']
  const strings = ['-xx', '-s', '2000000']
  const under = ['strace', '-f', ...fast, ...strings, '-o', traceFile, '-e', `trace=${TRACED}`, '-e', 'signal=none']
  const run = await runWriter(task, { under: [...under, ...filter] })
  return { ...run, trace: readFileSync(traceFile, 'latin1') }
}

/** Where a backend's data stands below a directory. */
export function rootOf(directory: string): string {
  return join(directory, 'root')
}
