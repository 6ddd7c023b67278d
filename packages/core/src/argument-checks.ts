/**
 * Checks of what a caller passes, made in one way: before anything is opened, each property read once, and whatever is
 * not of the documented form is INVALID_ARGUMENT with its name (contract family ERR). `undefined` is absence; `null`
 * is a value like any other.
 */
import { SessionError } from './errors.ts'
import type { HeadReceipt } from './event/head-receipt.ts'
import { type Labels, plainLabels } from './event/labels.ts'
import { checkSessionId } from './event/session-id.ts'
import { shownName } from './event/shown-text.ts'

/** The argument as it is to be used; INVALID_ARGUMENT under `name` when it is not of the form that is checked for. */
export type ArgumentCheck<T> = (value: unknown, name: string) => T

/** One check for each property. */
export type PropertyChecks<T> = { readonly [Key in keyof T]-?: ArgumentCheck<T[Key]> }

function wrong(name: string, expected: string, cause?: unknown): SessionError {
  return new SessionError('INVALID_ARGUMENT', `${name} must be ${expected}`, cause === undefined ? {} : { cause })
}

/** The value itself, when `holds` says so; a getter or a proxy that throws is a refusal too. */
export function must<T>(expected: string, holds: (value: unknown) => boolean): ArgumentCheck<T> {
  return (value: unknown, name: string): T => {
    let fits: boolean
    try {
      fits = holds(value)
    } catch (cause) {
      throw wrong(name, expected, cause)
    }
    if (!fits) throw wrong(name, expected)
    return value as T
  }
}

/** Checked where it is used. */
export function checkedLater<T>(): ArgumentCheck<T> {
  return (value: unknown): T => value as T
}

export const aString: ArgumentCheck<string> = must('a string', (value) => typeof value === 'string')

/** INVALID_ID. */
export const anId: ArgumentCheck<string> = (value: unknown): string => checkSessionId(value)

export const aBoolean: ArgumentCheck<boolean> = must('true or false', (value) => typeof value === 'boolean')

export const aNumber: ArgumentCheck<number> = must('a number', (value) => Number.isFinite(value))

export const aSeq: ArgumentCheck<number> = must('a seq: an integer from 0', isSeq)

function isSeq(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function aFunction<T>(): ArgumentCheck<T> {
  return must<T>('a function', (value) => typeof value === 'function')
}

export function oneOf<T extends string>(...words: readonly T[]): ArgumentCheck<T> {
  const shown = words.map((word) => `'${word}'`).join(' or ')
  return must<T>(shown, (value) => (words as readonly unknown[]).includes(value))
}

/** A real one: signals are joined, which an imitation does not survive. */
export const anAbortSignal: ArgumentCheck<AbortSignal> = must(
  'an AbortSignal',
  (value) => value instanceof AbortSignal && typeof value.aborted === 'boolean',
)

/** A copy, so that nobody changes them afterwards. */
export const someLabels: ArgumentCheck<Labels> = (value: unknown, name: string): Labels => {
  const labels = plainLabels(value)
  if (labels === undefined) throw wrong(name, 'a plain object of strings')
  return labels
}

/** Whatever `for await` takes, apart from strings. */
export function anIterable<T>(): ArgumentCheck<AsyncIterable<T>> {
  return must<AsyncIterable<T>>('an iterable', (value) => {
    if (typeof value !== 'object' || value === null) return false
    const { [Symbol.asyncIterator]: asynchronous, [Symbol.iterator]: synchronous } = value as {
      readonly [Symbol.asyncIterator]?: unknown
      readonly [Symbol.iterator]?: unknown
    }
    return typeof asynchronous === 'function' || typeof synchronous === 'function'
  })
}

/** A copy of the array, each element checked. */
export function listOf<T>(check: ArgumentCheck<T>): ArgumentCheck<readonly T[]> {
  return (value: unknown, name: string): readonly T[] => {
    let items: readonly unknown[] | undefined
    try {
      if (Array.isArray(value)) items = [...value]
    } catch (cause) {
      throw wrong(name, 'an array', cause)
    }
    if (items === undefined) throw wrong(name, 'an array')
    return items.map((item, index) => check(item, `${name}[${index}]`))
  }
}

/** A copy of the own properties of an object that is neither array nor function. */
export function anOptionsObject<T extends object>(value: T, name: string = 'options'): T {
  return read(value, name, (given) => ({ ...given })) as T
}

/** A copy that holds the named properties alone, each read once and checked; one in `required` may not be absent. */
export function anObject<T extends object>(
  checks: PropertyChecks<T>,
  required: readonly (keyof T & string)[] = [],
): ArgumentCheck<T> {
  const entries = Object.entries(checks) as [keyof T & string, ArgumentCheck<unknown>][]
  return (value: unknown, name: string): T => {
    const given = read(value, name, (object) => entries.map(([key]) => object[key]))
    const checked: { [key: string]: unknown } = {}
    entries.forEach(([key, check], index) => {
      const field = given[index]
      if (field !== undefined) checked[key] = check(field, `${name}.${key}`)
      else if (required.includes(key)) throw wrong(`${name}.${key}`, 'given')
    })
    return checked as T
  }
}

/**
 * As `anObject`, and nothing else may be given: a filter that is spelled wrongly would let everything through, a misspelled
 * `redact` would store secrets. A property that is undefined is absent.
 */
export function onlyOptions<T extends object>(
  checks: PropertyChecks<T>,
  required: readonly (keyof T & string)[] = [],
): ArgumentCheck<T> {
  const known = new Set(Object.keys(checks))
  const check = anObject<T>(checks, required)
  return (value: unknown, name: string): T => {
    const stray = read(value, name, (object) =>
      Object.keys(object).find((key) => !known.has(key) && object[key] !== undefined),
    )
    if (stray === undefined) return check(value, name)
    throw new SessionError(
      'INVALID_ARGUMENT',
      `${name} has no property ${shownName(stray)}; it takes ${[...known].join(', ')}`,
    )
  }
}

function read<T>(value: unknown, name: string, take: (object: { readonly [key: string]: unknown }) => T): T {
  try {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return take(value as { readonly [key: string]: unknown })
    }
  } catch (cause) {
    throw wrong(name, 'an object that can be read', cause)
  }
  throw wrong(name, 'an object')
}

export const aHeadReceipt: ArgumentCheck<HeadReceipt> = anObject<HeadReceipt>(
  {
    seq: must('an integer from -1', (value) => Number.isSafeInteger(value) && (value as number) >= -1),
    crc: aString,
  },
  ['seq', 'crc'],
)
