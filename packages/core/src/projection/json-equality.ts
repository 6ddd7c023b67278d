/**
 * Equality of JSON values as `checkpoint` means it: key order does not count, `undefined` is absent, and identical
 * references are equal without a look inside.
 */
import { childPath } from '../event/json-path.ts'

/**
 * Where `a` and `b` first differ, as a JSON path and the kind of difference; undefined when they are equal. The answer
 * names keys, kinds and lengths, never values. At least one of the two must be free of cycles.
 */
export function firstDifference(a: unknown, b: unknown): string | undefined {
  try {
    return differenceAt('$', a, b)
  } catch (error) {
    // The caller's stack may be nearly used up: not the values' fault.
    if (error instanceof RangeError) throw error
    return '$: a getter or a proxy that throws'
  }
}

function differenceAt(path: string, a: unknown, b: unknown): string | undefined {
  if (a === b) return undefined
  const kind = kindOf(a)
  const other = kindOf(b)
  if (kind !== other) return `${path}: ${kind} against ${other}`
  if (kind === 'array') return differenceOfArrays(path, a as readonly unknown[], b as readonly unknown[])
  if (kind === 'object') return differenceOfObjects(path, a as Fields, b as Fields)
  return `${path}: different ${kind} values`
}

type Fields = { readonly [key: string]: unknown }

function differenceOfArrays(path: string, a: readonly unknown[], b: readonly unknown[]): string | undefined {
  const both = Math.min(a.length, b.length)
  for (let index = 0; index < both; index += 1) {
    const difference = differenceAt(childPath(path, index), a[index], b[index])
    if (difference !== undefined) return difference
  }
  return a.length === b.length ? undefined : `${path}: array of ${a.length} against array of ${b.length}`
}

function differenceOfObjects(path: string, a: Fields, b: Fields): string | undefined {
  for (const key of Object.keys(a)) {
    const difference = differenceAt(childPath(path, key), a[key], Object.hasOwn(b, key) ? b[key] : undefined)
    if (difference !== undefined) return difference
  }
  for (const key of Object.keys(b))
    if (b[key] !== undefined && !Object.hasOwn(a, key))
      return `${childPath(path, key)}: absent against ${kindOf(b[key])}`
  return undefined
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'absent'
  if (Array.isArray(value)) return 'array'
  if (typeof value !== 'object') return typeof value
  // A Map or Date has no own keys and would equal an empty object.
  return Object.prototype.toString.call(value) === '[object Object]' ? 'object' : 'no JSON value'
}
