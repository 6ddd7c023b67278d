import type { Output } from './output.ts'

const redrawMs = 100

/** One line on standard error that is redrawn while long work runs, and leaves nothing behind. Terminals only. */
export class Progress implements Disposable {
  readonly #output: Output
  #last = 0
  #shown = false

  constructor(output: Output) {
    this.#output = output
  }

  /** `text` must be safe to print. It is made only when it is shown. */
  show(text: () => string): void {
    if (!this.#output.isTerminal) return
    const now = performance.now()
    if (this.#shown && now - this.#last < redrawMs) return
    this.#last = now
    this.#shown = true
    void this.#output.write(`\r\u001b[2K${text()}`).catch(() => undefined)
  }

  [Symbol.dispose](): void {
    if (this.#shown) void this.#output.write('\r\u001b[2K').catch(() => undefined)
    this.#shown = false
  }
}
