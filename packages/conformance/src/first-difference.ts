/** Where two JSON values differ first. */
export interface Difference {
  /** JSON path, `$` for the whole. */
  readonly path: string
  readonly expected: string
  readonly found: string
}

/** Enough to see the difference, little enough to read. */
const WINDOW_CHARACTERS = 120

/** The first difference in key order and value, or undefined. Key order counts unless `ignoreKeyOrder`. */
export function firstDifference(
  found: unknown,
  expected: unknown,
  options: { readonly ignoreKeyOrder?: boolean } = {},
  path = '$',
): Difference | undefined {
  if (Object.is(found, expected)) return undefined
  if (Array.isArray(found) && Array.isArray(expected)) {
    for (let index = 0; index < Math.min(found.length, expected.length); index += 1) {
      const inner = firstDifference(found[index], expected[index], options, `${path}[${index}]`)
      if (inner !== undefined) return inner
    }
    if (found.length === expected.length) return undefined
    return { path: `${path}.length`, expected: String(expected.length), found: String(found.length) }
  }
  if (isRecord(found) && isRecord(expected)) {
    const [foundKeys, expectedKeys] = [keysOf(found, options), keysOf(expected, options)]
    const keys = firstDifference(foundKeys, expectedKeys, {}, `${path}{keys}`)
    if (keys !== undefined) return { path, expected: show(expectedKeys), found: show(foundKeys) }
    for (const key of expectedKeys) {
      const inner = firstDifference(found[key], expected[key], options, `${path}.${key}`)
      if (inner !== undefined) return inner
    }
    return undefined
  }
  return { path, expected: show(expected), found: show(found) }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keysOf(value: Readonly<Record<string, unknown>>, options: { readonly ignoreKeyOrder?: boolean }): string[] {
  const keys = Object.keys(value)
  return options.ignoreKeyOrder === true ? keys.sort() : keys
}

/** A short form of any value. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : describe(value)
  return text.length <= WINDOW_CHARACTERS ? text : `${text.slice(0, WINDOW_CHARACTERS)}... (${text.length} characters)`
}

function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}${'code' in value ? ` ${String(value.code)}` : ''}: ${value.message}`
  if (Object.is(value, -0)) return '-0'
  if (typeof value === 'object' && value !== null) {
    try {
      return JSON.stringify(value) ?? String(value)
    } catch {
      return Object.prototype.toString.call(value)
    }
  }
  return String(value)
}
