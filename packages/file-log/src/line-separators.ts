/**
 * U+2028 and U+2029 are legal in JSON, and yet some tools split lines at them: on disk they stand as escapes, which
 * read back as the same text. They occur inside strings only.
 */
const LINE = '\u2028'
const PARAGRAPH = '\u2029'
const EACH = /[\u2028\u2029]/g

export function escapeLineSeparators(json: string): string {
  // The search alone is what almost every text pays; unlike a pattern's, it knows at once what a text of narrow
  // characters cannot hold.
  if (!json.includes(LINE) && !json.includes(PARAGRAPH)) return json
  return json.replace(EACH, (separator) => (separator === LINE ? '\\u2028' : '\\u2029'))
}
