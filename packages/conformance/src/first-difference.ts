/** Where two JSON values differ first. */
export interface Difference {
  /** JSON path, `$` for the whole. */
  readonly path: string
  readonly expected: string
  readonly found: string
}

/** Enough to see the difference, little enough to read. */
const WINDOW_CHARACTERS = 120
/** Characters before the first one that differs: the place is found by them. */
const LEAD_CHARACTERS = 30
/** Items shown before and after the one that differs. */
const NEIGHBOURS = 1

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
  if (typeof found === 'string' && typeof expected === 'string') {
    const from = Math.max(0, commonLength(found, expected) - LEAD_CHARACTERS)
    return { path, expected: showFrom(expected, from), found: showFrom(found, from) }
  }
  return { path, expected: show(expected), found: show(found) }
}

/**
 * The items around the first difference of two lists, as lines of a small patch: ` ` in both, `-` expected, `+` found.
 * Empty where the difference does not lie in a list.
 */
export function differenceWindow(found: unknown, expected: unknown, path: string): readonly string[] {
  if (!Array.isArray(found) || !Array.isArray(expected)) return []
  const named = /^\$\[(\d+)\]/.exec(path)?.[1]
  const at = named === undefined ? Math.min(found.length, expected.length) : Number(named)
  const lines: string[] = []
  for (let index = Math.max(0, at - NEIGHBOURS); index <= at + NEIGHBOURS; index += 1) {
    const [wanted, got] = [lineOf(expected, index), lineOf(found, index)]
    if (wanted !== undefined && wanted === got) {
      lines.push(`  [${index}] ${wanted}`)
      continue
    }
    if (wanted !== undefined) lines.push(`- [${index}] ${wanted}`)
    if (got !== undefined) lines.push(`+ [${index}] ${got}`)
  }
  return lines
}

function lineOf(list: readonly unknown[], index: number): string | undefined {
  return index < list.length ? show(list[index]) : undefined
}

function commonLength(a: string, b: string): number {
  let index = 0
  while (index < a.length && index < b.length && a[index] === b[index]) index += 1
  return index
}

function showFrom(text: string, from: number): string {
  return from === 0 ? show(text) : `...${show(text.slice(from, from + 4 * WINDOW_CHARACTERS))} at character ${from}`
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
