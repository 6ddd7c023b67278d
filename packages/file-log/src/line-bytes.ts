/** What readers of lines compare and read without a JSON parser. */

const ZERO = 0x30
const NINE = 0x39
/** So that the value is exact, and under `Number.MAX_SAFE_INTEGER`. */
const DIGITS_MAX = 15

/** Behind the last integer that {@link integerAt} read: a replay reads millions, and makes no object for each. */
let behind = 0

export function integerEnd(): number {
  return behind
}

/** The canonical JSON integer at `at`, not negative, or NaN. */
export function integerAt(bytes: Buffer, at: number): number {
  let value = 0
  let index = at
  for (; index - at <= DIGITS_MAX; index++) {
    const code = bytes[index] ?? 0
    if (code < ZERO || code > NINE) break
    value = value * 10 + (code - ZERO)
  }
  behind = index
  const length = index - at
  return length === 0 || length > DIGITS_MAX || (length > 1 && bytes[at] === ZERO) ? Number.NaN : value
}

export function hasAt(bytes: Buffer, at: number, expected: Buffer): boolean {
  for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return false
  return true
}
