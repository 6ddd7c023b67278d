/**
 * Stored text is somebody else's: an escape sequence in a title must not move the cursor, change colours or retitle the
 * window of the person who lists sessions. Everything that a terminal would act on is shown instead of sent.
 */

// C0 but tab and line feed, DEL, C1, line separators, and the marks that reorder or hide what follows them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code) // control pictures: U+241B stands for ESC
  if (code === 0x7f) return '\u2421'
  return `\\u${code.toString(16).padStart(4, '0')}`
}

/** Text of several lines; line feeds and tabs stay. CRLF becomes LF, since a lone CR would overwrite the line. */
export function safeText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, visible)
}

/** Text for one line: every run of white space is one space. */
export function safeLine(text: string): string {
  return safeText(text.replace(/\s+/gu, ' ').trim())
}

/** Compact JSON that a terminal can be shown: an equal value, with what `JSON.stringify` leaves raw escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent) ?? 'null')
}

function escapeJson(json: string): string {
  // Outside strings JSON holds none of these, so each is inside one, where an escape is the same character.
  return json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
