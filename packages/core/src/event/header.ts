/** The session header: facts fixed at creation. It is not an event and has no seq. */
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { plainLabels } from './labels.ts'
import { checkSessionId } from './session-id.ts'

export interface SessionHeader {
  /** Format version of the stored log (see format-version). */
  readonly version: number
  readonly id: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Name of the message format that `message` fields are in. */
  readonly messageFormat: string
  readonly cwd?: string
  /** Id of the session that this one was forked from or started by. */
  readonly parent?: string
  /** Number of leading events shared with the parent. Absent means none. */
  readonly seedLength?: number
  /** What made this session: `fork`, `sub-agent`, `import:claude-code`, a harness name. */
  readonly origin?: string
  readonly labels?: { readonly [name: string]: string }
}

/** What a value must be for each key, in words; the order is the order in which a header is written. */
const FIELDS: readonly (readonly [
  key: keyof SessionHeader,
  required: boolean,
  expected: string,
  holds: (value: unknown) => boolean,
])[] = [
  ['version', true, 'a format version', isCount],
  ['id', true, 'a session id', isSessionId],
  ['createdAt', true, 'integer Unix milliseconds', Number.isSafeInteger],
  ['messageFormat', true, 'a name', isName],
  ['cwd', false, 'a path', isName],
  ['parent', false, 'a session id', isSessionId],
  ['seedLength', false, 'a number of events', isCount],
  ['origin', false, 'a name', isName],
  ['labels', false, 'an object of strings', isLabels],
]

/**
 * The header, exactly: required keys present, no other keys than the known ones, each of its type. The result is a
 * frozen copy in key order, so that equal headers have equal JSON. Otherwise `code`: INVALID_ARGUMENT for what a
 * caller made, CORRUPT for what was read. TOO_LARGE past `LIMITS.headerBytes`. Whether the version is supported is
 * not asked here (see format-version): a newer header may have other keys, so ask that first.
 */
export function checkHeader(value: unknown, code: 'INVALID_ARGUMENT' | 'CORRUPT' = 'INVALID_ARGUMENT'): SessionHeader {
  const given = fieldsOf(value, code)
  const header: { [key: string]: unknown } = {}
  for (const [key, required, expected, holds] of FIELDS) {
    const field = Object.hasOwn(given, key) ? given[key] : undefined
    if (field === undefined && !required) continue
    if (!holds(field)) {
      const path = `$.${key}`
      throw new SessionError(code, `The session header is invalid: expected ${expected} at ${path}`, { path, expected })
    }
    header[key] = key === 'labels' ? plainLabels(field) : field
  }
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(header, key) && given[key] !== undefined)
  if (unknown.length > 0) {
    throw new SessionError(code, `The session header has ${unknown.length} unknown key(s)`, { found: unknown.length })
  }
  const bytes = Buffer.byteLength(JSON.stringify(header), 'utf8')
  if (bytes > LIMITS.headerBytes) {
    throw new SessionError('TOO_LARGE', `The header exceeds the limit headerBytes (${LIMITS.headerBytes} bytes)`, {
      expected: LIMITS.headerBytes,
      found: bytes,
    })
  }
  return Object.freeze(header) as unknown as SessionHeader
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isSessionId(value: unknown): boolean {
  try {
    checkSessionId(value)
    return true
  } catch {
    return false
  }
}

function isLabels(value: unknown): boolean {
  return plainLabels(value) !== undefined
}

/** A copy, so that each field is read once: a getter or a proxy may throw, or answer differently the next time. */
function fieldsOf(value: unknown, code: 'INVALID_ARGUMENT' | 'CORRUPT'): { readonly [key: string]: unknown } {
  try {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (cause) {
    throw new SessionError(code, 'A session header must be an object that can be read', { cause })
  }
  throw new SessionError(code, 'A session header must be an object')
}
