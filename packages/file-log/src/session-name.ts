/**
 * Session ids as file names, and back (contract family ID).
 *
 * - `a`-`z`, `0`-`9`, `-`, `_` and `.` stand for themselves; every other byte of the id's UTF-8 is `%` and two lowercase
 *   hex digits. So names that differ in case or Unicode normalisation only stay apart on every file system.
 * - A `.` at the start or the end is escaped: no hidden names, no `..`, none of ours, nothing that Windows strips.
 * - The first byte of a name that Windows reserves for a device (`con`, `com1.txt`) is escaped.
 * - A result of more than 120 characters is replaced by its first 48 (cut before a broken escape), `~`, and the SHA-256
 *   of the id's UTF-8 in hex. `~` occurs in no other name. Such a name cannot be turned back into the id.
 */
import { createHash } from 'node:crypto'

/** With the prefix and the random part of a temporary name this stays under 143, the shortest limit in use (eCryptfs). */
const NAME_LENGTH_MAX = 120
const LONG_PREFIX_LENGTH = 48
const RESERVED = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/
/** By character code, what stands for itself. A listing asks this of ten thousand names, and this is quicker than a pattern. */
const PLAIN: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9_.-]/.test(String.fromCharCode(code)) ? 1 : 0,
)
const LONG = /^(?:[a-z0-9_.-]|%[0-9a-f]{2})*~[0-9a-f]{64}$/

/** The directory name of a well-formed id. Injective. */
export function encodeSessionName(id: string): string {
  const name = encodeShort(id)
  if (name.length <= NAME_LENGTH_MAX) return name
  const prefix = name.slice(0, LONG_PREFIX_LENGTH).replace(/%[0-9a-f]?$/, '')
  return `${prefix}~${createHash('sha256').update(id, 'utf8').digest('hex')}`
}

/** Nothing but plain characters, the first of which is not a dot. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (PLAIN[text.charCodeAt(at)] !== 1) return false
  return text !== '' && !text.startsWith('.')
}

/** Whether an id of nothing but plain characters is its own name. */
function isSpelledOut(id: string): boolean {
  return id.length <= NAME_LENGTH_MAX && !id.endsWith('.') && !RESERVED.test(id)
}

function encodeShort(id: string): string {
  if (isPlain(id) && isSpelledOut(id)) return id
  let name = ''
  for (const byte of Buffer.from(id, 'utf8')) {
    const character = String.fromCharCode(byte)
    name += /[a-z0-9_.-]/.test(character) ? character : escaped(byte)
  }
  if (name.endsWith('.')) name = `${name.slice(0, -1)}%2e`
  if (name.startsWith('.') || RESERVED.test(name)) name = `${escaped(name.charCodeAt(0))}${name.slice(1)}`
  return name
}

function escaped(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`
}

/** The id that a name stands for; undefined for a name that no id has, and for one whose id is only in the header. */
export function decodeSessionName(name: string): string | undefined {
  if (isPlain(name)) return isSpelledOut(name) ? name : undefined
  if (!/^(?:[a-z0-9_.-]|%[0-9a-f]{2})+$/.test(name)) return undefined
  const bytes = Buffer.from(
    name.replace(
      /%([0-9a-f]{2})|./g,
      (character, hex: string | undefined) => hex ?? character.charCodeAt(0).toString(16),
    ),
    'hex',
  )
  const id = bytes.toString('utf8')
  return id !== '' && encodeSessionName(id) === name ? id : undefined
}

/** True for the name of an id too long to be spelled out. */
export function isLongSessionName(name: string): boolean {
  return LONG.test(name)
}
