import { systemError } from '../system-error.ts'
import { type Style, styleFor } from './style.ts'

/** Thrown by a write, and the reason of the abort, when the reader of standard output has gone (`| head`). */
export class OutputGone extends Error {
  override readonly name = 'OutputGone'
}

/** One of the two output streams: knows what its other end can show, waits where it is slow, notices when it goes. */
export class Output {
  readonly isTerminal: boolean
  readonly style: Style
  readonly #stream: NodeJS.WriteStream
  #failure: unknown

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv, onFailure: (reason: unknown) => void) {
    this.#stream = stream
    this.isTerminal = stream.isTTY === true
    this.style = styleFor(this.isTerminal, env)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader that has seen enough is no failure; anything else is, such as a full disk behind a redirection.
      const seenEnough = error.code === 'EPIPE' || error.code === 'EOF'
      this.#failure ??= seenEnough
        ? new OutputGone('standard output was closed', { cause: error })
        : systemError(error, 'the output could not be written', 'standard output')
      onFailure(this.#failure)
    })
  }

  /** Columns to lay text out in; undefined where nobody looks at a fixed width. */
  get width(): number | undefined {
    return this.isTerminal ? Math.max(40, this.#stream.columns ?? 80) : undefined
  }

  /** Resolves when more may be written. */
  async write(text: string): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#stream.write(text)) return
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        this.#stream.off('drain', settle).off('close', settle).off('error', settle)
        resolve()
      }
      this.#stream.on('drain', settle).on('close', settle).on('error', settle)
    })
  }

  async lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.write(`${lines.join('\n')}\n`)
  }
}
