import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BenchBackend } from '../backend/bench-backend.ts'
import type { MemoryAnswer, Task, TurnsAnswer } from './task.ts'

/** A task without the place that {@link runChild} adds. */
type Bare<T extends Task> = T extends Task ? Omit<T, 'module' | 'location'> : never
type MemoryTask = Bare<Exclude<Task, { readonly kind: 'turns' }>>
type TurnsTask = Bare<Extract<Task, { readonly kind: 'turns' }>>

/** The built program: plain Node runs no TypeScript. */
const PROGRAM = fileURLToPath(new URL('./main.js', import.meta.url))

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
): Promise<MemoryAnswer> {
  return runChild<MemoryAnswer>(backend, location, task, signal)
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

/** Rejects with the error that the child ended with. */
function runChild<Answer>(
  backend: BenchBackend,
  location: string,
  task: MemoryTask | TurnsTask,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const given = [PROGRAM, JSON.stringify({ ...task, module: backend.module, location })]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, given, signal === undefined ? {} : { signal }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Answer)
      else reject(new Error(`the measuring process failed: ${errorLine(stderr) ?? error.message}`, { cause: error }))
    })
  })
}

function errorLine(text: string): string | undefined {
  return text.split('\n').find((line) => /Error/.test(line))
}
