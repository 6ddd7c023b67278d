/** Checks for `load` of the core projections: a snapshot is disposable, so whatever looks wrong is refused. */

export type Fields = { readonly [key: string]: unknown }

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

export function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || is(value)
}

export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** Never leaves the snapshot reader, so it needs no code of the closed list. */
export function refuse(what: string): never {
  throw new TypeError(`the snapshot does not hold ${what} of the saved form`)
}
