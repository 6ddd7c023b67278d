/** Paths that name a place inside a JSON value, as errors show them: `$.data.message[0]`. */
import { shownName } from './shown-text.ts'

/** `$.name`, or `$["other name"]` where the name is not an identifier. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (/^[A-Za-z_$][\w$]{0,63}$/.test(key)) return `${path}.${key}`
  return `${path}[${shownName(key)}]`
}
