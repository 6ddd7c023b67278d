import stringWidth from 'string-width'

/** Letters, digits and signs of one column each, with the quotation marks and the ellipsis that tables add. */
const NARROW = /^[\x20-\x7e\u201c\u201d\u2026]*$/

/** Columns that the text takes. What is plain is counted: the library builds its tables at the first call, which takes as long as a command. */
export function displayWidth(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text)
}
