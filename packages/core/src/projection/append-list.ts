/**
 * An immutable list whose `push` is O(1) amortised: all lists grown from one share its storage, and each sees its own
 * prefix. Only the newest pushes in place; pushing on an older one copies, so no holder ever sees a change.
 */
export class AppendList<T> implements Iterable<T> {
  static readonly #none: readonly never[] = Object.freeze([])
  readonly #storage: T[]
  readonly length: number

  private constructor(storage: T[], length: number) {
    this.#storage = storage
    this.length = length
  }

  static of<T>(items: Iterable<T> = AppendList.#none): AppendList<T> {
    const storage = [...items]
    return new AppendList(storage, storage.length)
  }

  push(item: T): AppendList<T> {
    const storage = this.#storage.length === this.length ? this.#storage : this.#storage.slice(0, this.length)
    storage.push(item)
    return new AppendList(storage, storage.length)
  }

  at(index: number): T | undefined {
    return index < this.length ? this.#storage[index] : undefined
  }

  /** A new list with its own storage, in which `items` stand in the place of those from `start` to before `end`. */
  replaced(start: number, end: number, items: readonly T[]): AppendList<T> {
    const storage = this.slice()
    storage.splice(start, end - start, ...items)
    return new AppendList(storage, storage.length)
  }

  /** The position of the one item that `matches`, or -1. Looks from both ends inwards. */
  position(matches: (item: T) => boolean): number {
    for (let low = 0, high = this.length - 1; low <= high; low += 1, high -= 1) {
      if (matches(this.#storage[high] as T)) return high
      if (matches(this.#storage[low] as T)) return low
    }
    return -1
  }

  /** How many leading items are the same values in both lists. */
  commonPrefix(other: AppendList<T>): number {
    const most = Math.min(this.length, other.length)
    if (this.#storage === other.#storage) return most
    let index = 0
    while (index < most && this.#storage[index] === other.#storage[index]) index += 1
    return index
  }

  /** The list as it was when it held `length` items. */
  prefix(length: number): AppendList<T> {
    return new AppendList(this.#storage, Math.min(length, this.length))
  }

  slice(start = 0): T[] {
    return this.#storage.slice(start, this.length)
  }

  map<U>(change: (item: T) => U): U[] {
    const result: U[] = []
    for (const item of this) result.push(change(item))
    return result
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = 0; index < this.length; index += 1) yield this.#storage[index] as T
  }
}
