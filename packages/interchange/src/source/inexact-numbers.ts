/**
 * Numbers that JSON parsing does not give back: integers past 2^53, -0, more digits than a double has, values out of its
 * range. `12.0` is exact: it parses to an equal value.
 */

/**
 * What may be inexact, looked for where a number can stand: -0, sixteen digits (with a point), an exponent. Strings may
 * look like it, too; then the tokens are looked at one by one.
 */
const SUSPECT = /[:,[]\s*-?(?:\d(?:\.?\d){15}|\d[\d.]*[eE]|(?<=-)0)/

/** String, or number. Alternation consumes strings first, so that digits inside them do not count. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** True when the JSON in `text` holds a number that a double does not. */
export function hasInexactNumber(text: string): boolean {
  if (!SUSPECT.test(text)) return false
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue
    if (token.length < 16 && !/[eE]|^-0/.test(token)) continue
    if (!isExact(token)) return true
  }
  return false
}

function isExact(token: string): boolean {
  const value = Number(token)
  return (
    Number.isFinite(value) &&
    canonical(token) === canonical(Object.is(value, -0) ? '-0' : String(value)) &&
    !Object.is(value, -0)
  )
}

/** Sign, digits without leading and trailing zeros, and the exponent of the last digit. */
function canonical(token: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token)
  if (match === null) return token
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return `${sign}0`
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** The value with -0 as 0 and infinities as null, which events refuse. Changes `value` in place. */
export function withPlainNumbers(value: unknown): unknown {
  if (typeof value === 'number') return Object.is(value, -0) ? 0 : Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  for (const [key, child] of Object.entries(value)) {
    const plain = withPlainNumbers(child)
    // Not an assignment: a key may be `__proto__`.
    if (!Object.is(plain, child))
      Object.defineProperty(value, key, { value: plain, enumerable: true, writable: true, configurable: true })
  }
  return value
}
