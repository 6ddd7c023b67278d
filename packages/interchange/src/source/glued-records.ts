/** Several records on one line, which happens when a writer forgets a newline or two writers share a file. */

/** Candidates for the start of a record behind a stub. More than these are not looked at: the line is kept as text. */
const STARTS_MAX = 64

/**
 * The texts of the top-level objects of a line, when it is made of nothing else but white space and NULs. Undefined
 * otherwise. Braces inside strings do not count.
 */
export function splitObjects(text: string): string[] | undefined {
  const objects: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      if (depth === 0) return undefined
      at = stringEnd(text, at)
    } else if (code === 0x7b) {
      if (depth++ === 0) start = at
    } else if (code === 0x7d) {
      if (--depth < 0) return undefined
      if (depth === 0) objects.push(text.slice(start, at + 1))
    } else if (depth === 0 && code !== 0x20 && code !== 0x09 && code !== 0x0d && code !== 0) return undefined
  }
  return depth === 0 && objects.length > 1 ? objects : undefined
}

/** Index of the quote that ends the string that begins at `at`; the text's length when none does. */
function stringEnd(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === 0x5c) end++
    else if (code === 0x22) return end
  }
  return text.length
}

/** The stub of a record that was cut off, and the whole record that was written behind it. */
export function splitTorn(
  text: string,
  isRecord: (value: unknown) => boolean,
): { readonly stub: string; readonly record: string } | undefined {
  let at = text.indexOf('{"', 1)
  for (let tries = 0; at !== -1 && tries < STARTS_MAX; tries++, at = text.indexOf('{"', at + 1)) {
    const record = text.slice(at)
    try {
      if (isRecord(JSON.parse(record))) return { stub: text.slice(0, at), record }
    } catch {
      // Not the start of a whole record: an object inside one, or text that looks like it.
    }
  }
  return undefined
}
