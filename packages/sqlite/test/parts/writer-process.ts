/** Starts `writer-process.mjs`, reads what it says line by line, and kills it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface WriterLine {
  readonly kind: 'ready' | 'ack' | 'failed' | 'refused' | 'closed'
  readonly seq?: number
  readonly code?: string
  readonly cause?: string
}

export interface WriterTask {
  readonly file: string
  readonly id: string
  readonly batches: number
  /** Events a batch. */
  readonly size?: number
  readonly words?: readonly ('hold' | 'retry' | 'delete')[]
  /** Commands that start the process instead of `node` alone: `prlimit --fsize=1000`. */
  readonly under?: readonly string[]
}

const SCRIPT = fileURLToPath(new URL('writer-process.mjs', import.meta.url))

export class WriterProcess {
  readonly lines: WriterLine[] = []
  readonly #child: ChildProcess
  readonly #exit: Promise<void>
  #wake: () => void = () => {}
  #ended = false
  #said = ''

  constructor({ file, id, batches, size = 3, words = [], under = [] }: WriterTask) {
    const [command = process.execPath, ...args] = [...under, process.execPath]
    this.#child = spawn(command, [...args, SCRIPT, file, id, String(batches), String(size), ...words], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#said += data.toString()
    })
    this.#child.stdin?.on('error', () => {})
    if (this.#child.stdout !== null) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        this.lines.push(JSON.parse(line) as WriterLine)
        this.#wake()
      })
    }
    this.#exit = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#ended = true
        this.#wake()
        resolve()
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** What it wrote to stderr. */
  get said(): string {
    return this.#said
  }

  /** The next event that it acknowledged would have this seq. */
  get acknowledged(): number {
    return this.lines.reduce((most, { kind, seq = 0 }) => (kind === 'ack' ? Math.max(most, seq) : most), 0)
  }

  /** Resolves when it has said something that fits. */
  async until(fits: (line: WriterLine) => boolean): Promise<WriterLine> {
    for (let at = 0; ; ) {
      for (; at < this.lines.length; at++) {
        const line = this.lines[at]
        if (line !== undefined && fits(line)) return line
      }
      if (this.#ended) throw new Error(`the writer ended: ${JSON.stringify(this.lines.at(-1))} ${this.#said}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  tell(): void {
    this.#child.stdin?.write('\n')
  }

  /** SIGKILL; resolves when it is gone and everything that it said was read. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exit
  }

  async exit(): Promise<void> {
    await this.#exit
  }
}
