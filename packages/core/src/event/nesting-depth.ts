/**
 * Bounds on nesting, so that no consumer of a stored event can be made to overflow its stack. `JSON.parse` itself does
 * not recurse; `JSON.stringify` and every walk of a value do.
 */
import { LIMITS } from '../limits.ts'

/** Deepest nesting of a stored event: the envelope is one level around the data. */
const STORED_DEPTH = LIMITS.depth + 1

/** A text of this length cannot nest deeper than a stored event may: every level takes two characters at least. */
export const SHALLOW_LENGTH_MAX: number = 2 * STORED_DEPTH

/**
 * True when the JSON in `text` nests deeper than `limit`, by default what an event may, so that no consumer of the
 * parsed value can be made to overflow its stack. Strings and bytes are told apart from structure only where a cheap
 * count leaves a doubt; the text need not be valid.
 */
export function depthExceeds(text: string | Uint8Array, limit: number = STORED_DEPTH): boolean {
  if (text.length <= 2 * limit) return false
  return typeof text === 'string' ? stringDepthExceeds(text, limit) : bytesDepthExceeds(text, limit)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const CURLY_BIT = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

function bytesDepthExceeds(bytes: Uint8Array, limit: number): boolean {
  let opened = 0
  for (let at = 0; at < bytes.length; at++) if (((bytes[at] ?? 0) | CURLY_BIT) === OPEN) opened++
  return opened > limit && nestingExceeds(bytes.length, limit, (at) => bytes[at] ?? 0)
}

function stringDepthExceeds(text: string, limit: number): boolean {
  let opened = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) | CURLY_BIT) === OPEN) opened++
  return opened > limit && nestingExceeds(text.length, limit, (at) => text.charCodeAt(at))
}

function nestingExceeds(length: number, limit: number, codeAt: (at: number) => number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < length; at++) {
    const code = codeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if ((code | CURLY_BIT) === OPEN) {
      if (++depth > limit) return true
    } else if ((code | CURLY_BIT) === CLOSE) depth--
  }
  return false
}

/** True when a parsed value nests deeper than `limit`. Cheaper than {@link depthExceeds} where texts are long. */
export function nestsDeeper(value: unknown, limit: number = STORED_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  if (Array.isArray(value)) return value.some((child: unknown) => nestsDeeper(child, limit - 1))
  for (const key in value) {
    const child: unknown = value[key as keyof typeof value]
    if (typeof child === 'object' && child !== null && nestsDeeper(child, limit - 1)) return true
  }
  return false
}
