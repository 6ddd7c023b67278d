import type { SourceRecord } from './decode-line.ts'

/** The fields of one record as a reader uses them up. What is left at the end has no place in a core event. */
export class RecordFields {
  readonly #left: Map<string, unknown>

  constructor(record: SourceRecord) {
    this.#left = new Map(Object.entries(record))
  }

  peek(name: string): unknown {
    return this.#left.get(name)
  }

  /** The field, used up. */
  take(name: string): unknown {
    const value = this.#left.get(name)
    this.#left.delete(name)
    return value
  }

  /** The field if it is a string, used up; otherwise it stays. */
  string(name: string): string | undefined {
    const value = this.#left.get(name)
    return typeof value === 'string' ? (this.take(name) as string) : undefined
  }

  /** The field if it equals `expected`: then it says nothing new. */
  drop(name: string, expected: unknown): void {
    if (this.#left.get(name) === expected) this.#left.delete(name)
  }

  /** The field if it is an object, used up. */
  record(name: string): SourceRecord | undefined {
    const value = this.#left.get(name)
    return isRecord(value) ? (this.take(name) as SourceRecord) : undefined
  }

  /** What nobody took, in order; undefined when nothing is left. */
  rest(): SourceRecord | undefined {
    return this.#left.size === 0 ? undefined : Object.fromEntries(this.#left)
  }
}

export function isRecord(value: unknown): value is SourceRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
