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
const PLAIN = /^[a-z0-9_-][a-z0-9_.-]*$/
const LONG = /^(?:[a-z0-9_.-]|%[0-9a-f]{2})*~[0-9a-f]{64}$/

/** The directory name of a well-formed id. Injective. */
export function encodeSessionName(id: string): string {
  const name = encodeShort(id)
  if (name.length <= NAME_LENGTH_MAX) return name
  const prefix = name.slice(0, LONG_PREFIX_LENGTH).replace(/%[0-9a-f]?$/, '')
  return `${prefix}~${createHash('sha256').update(id, 'utf8').digest('hex')}`
}

function encodeShort(id: string): string {
  if (id.length <= NAME_LENGTH_MAX && PLAIN.test(id) && !id.endsWith('.') && !RESERVED.test(id)) return id
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
  if (PLAIN.test(name)) return encodeSessionName(name) === name ? name : undefined
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
