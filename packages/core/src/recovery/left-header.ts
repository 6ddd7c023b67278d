/**
 * The header of a log whose own is damaged: of its fields those that can still be read, though nothing proves them. What is
 * taken without proof, what is lost and what may be lost is said field by field.
 */
import { FORMAT_VERSION } from '../event/format-version.ts'
import { checkHeader, type SessionHeader } from '../event/header.ts'
import { coreMessageFormats } from '../message-format/core-formats.ts'
import type { StorageRepairOptions } from '../storage/session-storage.ts'

export interface LeftHeader {
  /** `createdAt` is 0 where it could not be told: then the time of the first event is the best that is known. */
  readonly header: SessionHeader
  readonly doubts: readonly string[]
}

type Field = Exclude<keyof SessionHeader, 'version' | 'id'>

const REQUIRED: readonly Field[] = ['createdAt', 'messageFormat']
/** In the order in which a header is written. */
const FIELDS: readonly Field[] = [...REQUIRED, 'cwd', 'parent', 'seedLength', 'origin', 'labels']
/** Keys of a stored header that are not fields of it. */
const OTHER_KEYS = new Set(['format', 'version', 'id', 'checksum', 'salt', 'crc'])

const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\.)*"`
const VALUE = String.raw`(${STRING}|-?\d+|\{(?:${STRING}:${STRING}(?:,${STRING}:${STRING})*)?\})`
/** What stands for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** `text` is what is left of the header's JSON; `proven` are fields that something else proves. */
export function leftHeader(
  text: string,
  id: string,
  messageFormats: StorageRepairOptions['messageFormats'],
  proven: Pick<Partial<SessionHeader>, 'createdAt'> = {},
): LeftHeader {
  const whole = parsed(text)
  const found = whole ?? pieces(text)
  let header: SessionHeader = { version: FORMAT_VERSION, id, createdAt: 0, messageFormat: 'plain', ...proven }
  const unproven: Field[] = []
  for (const field of FIELDS) {
    if (field in proven || !Object.hasOwn(found, field)) continue
    const next = headerWith(header, field, found[field])
    if (next === undefined) continue
    header = next
    unproven.push(field)
  }
  const missing = FIELDS.filter((field) => !(field in proven) && !unproven.includes(field))
  // Where the text is JSON, and every key is known, a field that is not there never was.
  const isComplete = whole !== undefined && Object.keys(whole).every((key) => isKnown(key))
  const isLost = (field: Field): boolean => REQUIRED.includes(field) || Object.hasOwn(found, field)
  const lost = missing.filter(isLost)
  const perhaps = isComplete ? [] : missing.filter((field) => !isLost(field))
  return { header, doubts: doubtsOf(header, unproven, lost, perhaps, messageFormats) }
}

function isKnown(key: string): boolean {
  return OTHER_KEYS.has(key) || (FIELDS as readonly string[]).includes(key)
}

/** Undefined where the value is none for this field, or where the header became too large. */
function headerWith(header: SessionHeader, field: Field, value: unknown): SessionHeader | undefined {
  try {
    return checkHeader({ ...header, [field]: value }, 'CORRUPT')
  } catch {
    return undefined
  }
}

function parsed(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value) || text.includes(REPLACEMENT))
      return undefined
    return value as { readonly [key: string]: unknown }
  } catch {
    return undefined
  }
}

/** Every field whose key and value are whole, in a text that is not JSON any more. */
function pieces(text: string): { readonly [key: string]: unknown } {
  const found: { [key: string]: unknown } = {}
  // A label may be named like a field. Labels come last, and are the only object; in a string the quote would be escaped.
  const labelsAt = text.search(/(?<!\\)":\{/)
  for (const field of FIELDS) {
    const part = field === 'labels' || labelsAt === -1 ? text : text.slice(0, labelsAt)
    const value = new RegExp(`,"${field}":${VALUE}(?=[,}])`).exec(part)?.[1]
    if (value === undefined || value.includes(REPLACEMENT)) continue
    try {
      found[field] = JSON.parse(value)
    } catch {
      // An escape that is none.
    }
  }
  return found
}

function doubtsOf(
  { messageFormat }: SessionHeader,
  unproven: readonly Field[],
  lost: readonly Field[],
  perhaps: readonly Field[],
  messageFormats: StorageRepairOptions['messageFormats'],
): readonly string[] {
  const doubts: string[] = []
  if (unproven.length > 0) {
    doubts.push(
      `the header is damaged: these fields are kept as they could be read, and could not be proven: ${unproven.join(', ')}`,
    )
  }
  if (lost.length > 0) {
    doubts.push(`the header is damaged: these fields of it are lost: ${lost.map(withSubstitute).join(', ')}`)
  }
  if (perhaps.length > 0) {
    doubts.push(`the header is damaged: whether it had these fields cannot be told: ${perhaps.join(', ')}`)
  }
  const isKnownFormat =
    messageFormats?.has(messageFormat) ?? coreMessageFormats.some(({ name }) => name === messageFormat)
  if (unproven.includes('messageFormat') && !isKnownFormat) {
    doubts.push(
      `no message format is known by the name that could be read, ${JSON.stringify(messageFormat)}: perhaps the name itself is damaged`,
    )
  }
  return doubts
}

function withSubstitute(field: Field): string {
  if (field === 'messageFormat') return 'messageFormat ("plain" is taken for it)'
  return field === 'createdAt' ? 'createdAt (the time of the first event is taken for it)' : field
}
