/**
 * U+2028 and U+2029 are legal in JSON, and yet some tools split lines at them: on disk they stand as escapes, which
 * read back as the same text. They occur inside strings only.
 */
const ANY = /[\u2028\u2029]/
const EACH = /[\u2028\u2029]/g

export function escapeLineSeparators(json: string): string {
  // The test alone is what almost every text pays.
  if (!ANY.test(json)) return json
  return json.replace(EACH, (separator) => (separator === '\u2028' ? '\\u2028' : '\\u2029'))
}
