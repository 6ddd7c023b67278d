import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AnySessionEvent, EventInput } from '@session-persistence/core'
import { HarnessError } from './harness.ts'
import { shortValue } from './short-value.ts'
import { STEADY_SEED } from './steady-names.ts'

/** One step of a script. */
export type WorkerStep =
  | { readonly do: 'create' | 'resume' | 'flush' | 'close' | 'delete'; readonly id: string }
  | { readonly do: 'append'; readonly id: string; readonly events: readonly EventInput[] }
  /** One group of so many messages of so many characters: one batch that takes a while to write. */
  | { readonly do: 'fill'; readonly id: string; readonly events: number; readonly characters: number }
  | { readonly do: 'fork'; readonly id: string; readonly child: string }
  | { readonly do: 'annotate'; readonly id: string; readonly title: string }

/** What a worker process is to do on the medium. */
export type WorkerTask =
  /** Writes whole turns, one event a flush, and acknowledges each flush with the next seq. */
  | { readonly kind: 'write'; readonly id: string; readonly turns: number; readonly resume?: boolean }
  /** Appends everything at once, acknowledges acceptance, never flushes. */
  | { readonly kind: 'accept'; readonly id: string; readonly turns: number }
  /** Acknowledges a durable unfinished turn, then each step of beginning a call. */
  | { readonly kind: 'begin-call'; readonly id: string }
  /** Writes the events of the first walk-through. */
  | { readonly kind: 'interrupted'; readonly id: string }
  /** Resumes and holds the session until its input ends. */
  | { readonly kind: 'hold'; readonly id: string }
  /** Waits for a line, then tries to resume, says how it went, and holds what it got. */
  | { readonly kind: 'race'; readonly id: string }
  /** Prints every stored event. */
  | { readonly kind: 'read'; readonly id: string }
  /**
   * Does one step after the other, and says when each begins and when it is done; then holds what it has. `paced` waits
   * for a line before each. `retries`: it expects its disk to fail. It tries a flush again so often, says each error and
   * what an append made before any of it is stored, and is over when it has said so.
   */
  | {
      readonly kind: 'script'
      readonly steps: readonly WorkerStep[]
      readonly paced?: boolean
      readonly retries?: number
    }
  /** Waits for a line; then adds so many turns to a session, taking and releasing it for each, while others do too. */
  | { readonly kind: 'contend'; readonly id: string; readonly turns: number }
  /** Says that the medium could be opened. */
  | { readonly kind: 'hello' }

/** One line that a worker prints. */
export type WorkerLine =
  | { readonly kind: 'ack'; readonly nextSeq: number }
  | { readonly kind: 'ready'; readonly pid: number }
  | { readonly kind: 'won'; readonly closed: number }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'events'; readonly events: readonly unknown[] }
  | { readonly kind: 'begin'; readonly step: number }
  | { readonly kind: 'done'; readonly step: number; readonly durable: number }
  /** Events that an append has made, before any of them is stored. */
  | { readonly kind: 'accepted'; readonly id: string; readonly events: readonly AnySessionEvent[] }
  /** A call failed, and was tried again, or nothing more could be done about it. No code: it was no SessionError. */
  | { readonly kind: 'refusal'; readonly code?: string; readonly message: string }
  /** The process ends as it should. */
  | { readonly kind: 'over' }
  /** Said by a wrong backend that stands still in mid-operation, so that it is killed exactly there. */
  | { readonly kind: 'stalled' }
  | { readonly kind: 'failed'; readonly code?: string; readonly message: string }

export interface WorkerProcess {
  readonly pid: number
  /** The next line, or undefined when the process has ended. */
  next(): Promise<WorkerLine | undefined>
  /** Lets a waiting worker go on. */
  go(): void
  /** SIGKILL; resolves when the process is gone and all that it had printed is in `lines`. */
  kill(): Promise<void>
  /** Ends its input and waits for the end. */
  finish(): Promise<void>
  /** Everything printed so far. */
  readonly lines: readonly WorkerLine[]
}

export interface SpawnOptions {
  /** Put before the command, for example a tracer and its arguments. Killed together with what it has started. */
  readonly launcher?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Draws names and other random numbers from this seed: the same task then makes the same calls again. */
  readonly steadySeed?: number
  /** Hears, for the history of a case, what became of the process. */
  readonly heard?: (text: string) => void
}

export type SpawnWorker = (task: WorkerTask, options?: SpawnOptions) => WorkerProcess

/** Where the built worker is: beside this file when built, and in `dist` when this file is run as source. */
const workerFile = fileURLToPath(new URL('../dist/conformance-worker.js', import.meta.url))

/** True when the worker was built. */
export function workerIsBuilt(): boolean {
  return existsSync(workerFile)
}

/** Starts a worker. Node runs it without any option of this process: loaders and conditions stay here. */
export function spawnWorker(
  module: string,
  location: string,
  task: WorkerTask,
  options: SpawnOptions = {},
): WorkerProcess {
  const command = [process.execPath, workerFile, module, location, JSON.stringify(task)]
  const [program = process.execPath, ...args] = [...(options.launcher ?? []), ...command]
  const steady = options.steadySeed === undefined ? {} : { [STEADY_SEED]: String(options.steadySeed) }
  const isGroup = options.launcher !== undefined
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', ...options.env, ...steady },
    detached: isGroup,
  })
  options.heard?.(`started to ${shortValue(task)}`)
  return new PipedWorker(child, isGroup, options.heard)
}

class PipedWorker implements WorkerProcess {
  readonly lines: WorkerLine[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #taken = 0
  #rest = ''
  #over = false
  #problems = ''
  readonly #heard: ((text: string) => void) | undefined
  #wake: () => void = () => {}

  readonly #isGroup: boolean

  constructor(child: ChildProcess, isGroup: boolean, heard: ((text: string) => void) | undefined) {
    this.#child = child
    this.#isGroup = isGroup
    this.#heard = heard
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#receive(text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#problems += text
    })
    // The pipe breaks when the worker was killed; that is what the case wanted.
    child.stdin?.on('error', () => {})
    this.#ended = new Promise<void>((resolve) => {
      child.on('error', () => resolve())
      child.on('close', () => resolve())
    }).then(() => {
      this.#over = true
      this.#wake()
    })
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  async next(): Promise<WorkerLine | undefined> {
    while (this.#taken >= this.lines.length && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const line = this.lines[this.#taken]
    this.#taken += 1
    if (line === undefined && this.#problems !== '' && this.lines.length === 0) {
      const sentence = this.#problems.split('\n').find((text) => text.includes('Error')) ?? this.#problems.slice(0, 200)
      throw new HarnessError(`Another process could not use the harness module: ${sentence.trim()}`)
    }
    return line
  }

  go(): void {
    this.#child.stdin?.write('go\n')
  }

  async kill(): Promise<void> {
    const running = !this.#over && this.#isGroup ? killGroup(this.pid) : this.#child.kill('SIGKILL')
    await this.#ended
    if (running) this.#heard?.(`killed after ${this.lines.length} lines, the last ${shortValue(this.lines.at(-1))}`)
  }

  async finish(): Promise<void> {
    this.#child.stdin?.end()
    await this.#ended
  }

  #receive(text: string): void {
    const pieces = (this.#rest + text).split('\n')
    this.#rest = pieces.pop() ?? ''
    for (const piece of pieces) this.lines.push(JSON.parse(piece) as WorkerLine)
    this.#wake()
  }
}

/** A tracer that is killed alone lets go of what it traced. */
function killGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 'SIGKILL')
  } catch {
    return false // it has just ended
  }
}
