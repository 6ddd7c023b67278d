/** Paths that name a place inside a JSON value, as errors show them: `$.data.message[0]`. */

/** Longest part of a key that is shown: a key names a place, but may be as long as any text. */
const SHOWN_KEY_MAX = 64

/** `$.name`, or `$["other name"]` where the name is not an identifier. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (/^[A-Za-z_$][\w$]{0,63}$/.test(key)) return `${path}.${key}`
  const shown = key.length > SHOWN_KEY_MAX ? `${key.slice(0, SHOWN_KEY_MAX)}…` : key
  return `${path}[${JSON.stringify(shown)}]`
}
