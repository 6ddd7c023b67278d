/** Items of one node. Wide enough that real lists (the calls of one step) are a single array. */
const BITS = 5
const WIDTH = 1 << BITS

type Node = readonly unknown[]

/** An immutable list in which both `push` and `with` copy a few small arrays, however long the list is. */
export class PersistentVector<T> {
  static readonly #empty: PersistentVector<never> = new PersistentVector<never>([], 0, 0)
  readonly length: number
  readonly #root: Node
  readonly #shift: number

  private constructor(root: Node, shift: number, length: number) {
    this.#root = root
    this.#shift = shift
    this.length = length
  }

  static empty<T>(): PersistentVector<T> {
    return PersistentVector.#empty
  }

  /** The item at `index`, which must lie in the list. */
  get(index: number): T {
    let node = this.#root
    for (let level = this.#shift; level > 0; level -= BITS) node = node[(index >>> level) & (WIDTH - 1)] as Node
    return node[index & (WIDTH - 1)] as T
  }

  push(item: T): PersistentVector<T> {
    const full = this.length === WIDTH << this.#shift
    const root = full ? [this.#root] : this.#root
    const shift = full ? this.#shift + BITS : this.#shift
    return new PersistentVector<T>(changed(root, shift, this.length, item), shift, this.length + 1)
  }

  /** The same list with `item` at `index`, which must lie in the list. */
  with(index: number, item: T): PersistentVector<T> {
    return new PersistentVector<T>(changed(this.#root, this.#shift, index, item), this.#shift, this.length)
  }
}

function changed(node: Node, level: number, index: number, item: unknown): Node {
  const copy = node.slice()
  const slot = (index >>> level) & (WIDTH - 1)
  copy[slot] = level === 0 ? item : changed((node[slot] as Node | undefined) ?? [], level - BITS, index, item)
  return copy
}
