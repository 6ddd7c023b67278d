import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { TRACED } from '../machine/syscall-trace.ts'
import type { MemoryAnswer, Task, TurnsAnswer } from './task.ts'

/** A task without the place that {@link runChild} adds. */
type Bare<T extends Task> = T extends Task ? Omit<T, 'module' | 'location'> : never
type MemoryTask = Bare<Exclude<Task, { readonly kind: 'turns' }>>
type TurnsTask = Bare<Extract<Task, { readonly kind: 'turns' }>>

/** The built program: plain Node runs no TypeScript. */
const PROGRAM = fileURLToPath(new URL('../../dist/child/main.js', import.meta.url))

/** True where a child process can find the backend. */
export function runsInChild(backend: BenchBackend): boolean {
  return backend.module !== undefined && backend.openAt !== undefined
}

/** Peak memory of a process that does this and nothing else. */
export function measureMemory(
  backend: BenchBackend,
  location: string,
  task: MemoryTask,
  signal?: AbortSignal,
  nodeOptions: readonly string[] = [],
): Promise<MemoryAnswer> {
  return runChild<MemoryAnswer>(backend, location, task, signal, nodeOptions)
}

/** Latencies of a process that streams turns and does nothing else. */
export function measureTurns(
  backend: BenchBackend,
  location: string,
  task: TurnsTask,
  signal?: AbortSignal,
): Promise<TurnsAnswer> {
  return runChild<TurnsAnswer>(backend, location, task, signal)
}

/** Runs the phases under strace, and gives the text of the trace; undefined where there is no strace. */
export async function tracePhases(
  backend: BenchBackend,
  location: string,
  traceFile: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const strace = ['-f', '-y', '-o', traceFile, '-e', `trace=${TRACED.map((name) => `?${name}`).join(',')}`]
  const task = taskArguments(backend, location, { kind: 'phases' })
  try {
    // One pool thread, so that calls appear in the order in which they were asked for.
    await execute(
      'strace',
      [...strace, process.execPath, ...task],
      { UV_THREADPOOL_SIZE: '1', UV_USE_IO_URING: '0' },
      signal,
    )
  } catch (error) {
    if (isMissingProgram(error)) return undefined
    throw error
  }
  return fs.readFile(traceFile, 'utf8')
}

async function runChild<Answer>(
  backend: BenchBackend,
  location: string,
  task: MemoryTask | TurnsTask,
  signal: AbortSignal | undefined,
  nodeOptions: readonly string[] = [],
): Promise<Answer> {
  const given = [...nodeOptions, ...taskArguments(backend, location, task)]
  return JSON.parse(await execute(process.execPath, given, {}, signal)) as Answer
}

function taskArguments(backend: BenchBackend, location: string, task: MemoryTask | TurnsTask): string[] {
  return [PROGRAM, JSON.stringify({ ...task, module: backend.module, location })]
}

/** Standard output; rejects with the error that the program ended with. */
export function execute(
  program: string,
  given: readonly string[],
  environment: { readonly [name: string]: string },
  signal: AbortSignal | undefined,
): Promise<string> {
  const options = {
    env: { ...process.env, ...environment },
    maxBuffer: 2 ** 26,
    ...(signal === undefined ? {} : { signal }),
  }
  return new Promise((resolve, reject) => {
    execFile(program, given, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else if (isMissingProgram(error)) reject(error)
      else reject(new Error(`the measuring process failed: ${errorLine(stderr) ?? error.message}`, { cause: error }))
    })
  })
}

function isMissingProgram(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function errorLine(text: string): string | undefined {
  return text.split('\n').find((line) => /Error[:[ ]/.test(line))
}
