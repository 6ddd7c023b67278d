import type { SeqRange } from '@session-persistence/core'

/** The seqs of the live messages in the order of the surface: what ranges need of it, without the messages. */
export class LiveMessages {
  readonly #seqs: number[] = []

  get all(): SeqRange | undefined {
    const first = this.#seqs[0]
    const last = this.#seqs.at(-1)
    return first === undefined || last === undefined ? undefined : [first, last]
  }

  /** As the grammar asks for it. */
  position(matches: (entry: { readonly seq: number }) => boolean): number {
    for (let at = this.#seqs.length - 1; at >= 0; at--) {
      const seq = this.#seqs[at]
      if (seq !== undefined && matches({ seq })) return at
    }
    return -1
  }

  append(seq: number): void {
    this.#seqs.push(seq)
  }

  /** `seq` takes the place of a live run. */
  replace([first, last]: SeqRange, seq: number): void {
    const start = this.#seqs.lastIndexOf(first)
    const end = this.#seqs.lastIndexOf(last)
    this.#seqs.splice(start, end - start + 1, seq)
  }
}
