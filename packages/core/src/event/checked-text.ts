/**
 * A small JSON document with a checksum of its own: `{"crc":"…","document":…}`, where the CRC-32 covers the UTF-8 bytes
 * of the document's text. What lies beside a log is disposable, but it must not be believed when a bit of it flipped.
 */
import { crc32Hex } from './crc32.ts'

const HEAD = /^\{"crc":"([0-9a-f]{8})","document":/

/** `document` is the text of a JSON value. */
export function checkedText(document: string): string {
  return `{"crc":"${crc32Hex(document)}","document":${document}}`
}

/** The document's text, or undefined when it is not exactly what {@link checkedText} made. */
export function openCheckedText(text: string): string | undefined {
  const head = HEAD.exec(text)
  if (head === null || !text.endsWith('}')) return undefined
  const document = text.slice(head[0].length, -1)
  return crc32Hex(document) === head[1] ? document : undefined
}
