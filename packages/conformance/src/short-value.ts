/** Bounds of one value in a history or a window: enough to recognise it, at a cost that does not grow with it. */
const TEXT_CHARACTERS = 32
const ENTRIES = 6
const DEPTH = 3

/** A value on one line, cut short in every direction, whatever its size. */
export function shortValue(value: unknown, depth = 0): string {
  if (typeof value === 'string') {
    if (value.length <= TEXT_CHARACTERS) return JSON.stringify(value)
    return `${JSON.stringify(value.slice(0, TEXT_CHARACTERS))}... (${value.length} characters)`
  }
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'function'
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  if (value instanceof AbortSignal) return 'signal'
  if (value instanceof Error) return 'code' in value ? `${value.name} ${String(value.code)}` : value.name
  if (depth >= DEPTH) return Array.isArray(value) ? '[...]' : '{...}'
  if (Array.isArray(value)) {
    const shown = value.slice(0, ENTRIES).map((one) => shortValue(one, depth + 1))
    return `[${shown.join(', ')}${value.length > ENTRIES ? `, ... ${value.length} in all` : ''}]`
  }
  const keys = Object.keys(value)
  const record = value as Readonly<Record<string, unknown>>
  const shown = keys.slice(0, ENTRIES).map((key) => `${shortKey(key)}: ${shortValue(record[key], depth + 1)}`)
  if (shown.length === 0) return '{}'
  return `{ ${shown.join(', ')}${keys.length > ENTRIES ? `, ... ${keys.length} in all` : ''} }`
}

function shortKey(key: string): string {
  return /^[A-Za-z_][\w]{0,31}$/.test(key) ? key : shortValue(key)
}

/** A foreign error as one sentence: its first line, never its stack. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : typeof error === 'string' ? error : shortValue(error)
  const line = text.split('\n').find((one) => one.trim() !== '') ?? 'an error without a message'
  const name =
    error instanceof Error && 'code' in error && error.name === 'SessionError' ? `${String(error.code)}: ` : ''
  return `${name}${line.trim()}`.slice(0, 300)
}
