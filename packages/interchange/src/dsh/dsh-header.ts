import { FORMAT_VERSION, type SessionHeader } from '@session-persistence/core'
import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord, RecordFields } from '../source/record-fields.ts'
import { importedId, isPlaceholderId } from '../source/session-ids.ts'

/** A longer fact does not become a label: listing reads every header. */
const LABEL_BYTES_MAX = 1024
const LABELS_MAX = 24

export interface DshIdentity {
  /** SHA-256 of the file in hexadecimal. */
  readonly hash: string
  readonly hashed: boolean
}

/**
 * The header of an imported log.
 * @param record the `session` record; undefined when the file has none
 * @param seedLength events before the end of the seed, when the log is a fork that says so
 */
export function dshHeader(
  record: SourceRecord | undefined,
  identity: DshIdentity,
  seedLength: number | undefined,
): SessionHeader {
  const fields = new RecordFields(record ?? {})
  fields.take('type')
  const id = importedId(fields.peek('id'), 'dsh', identity.hash, identity.hashed)
  if (!isPlaceholderId(fields.peek('id'))) fields.take('id')
  const createdAt = Number.isSafeInteger(fields.peek('createdAt')) ? (fields.take('createdAt') as number) : 0
  const cwd = isPath(fields.peek('cwd')) ? fields.string('cwd') : undefined
  const parent = isPlaceholderId(fields.peek('parentSession')) ? undefined : fields.string('parentSession')
  const seeded = seedLength !== undefined && parent !== undefined
  if (seeded) fields.take('seedLength')
  const subAgent = fields.peek('origin') === 'subagent'
  if (subAgent) fields.take('origin')
  return {
    version: FORMAT_VERSION,
    id,
    createdAt,
    messageFormat: 'dsh',
    ...(cwd !== undefined && { cwd }),
    ...(parent !== undefined && { parent }),
    ...(seeded && { seedLength }),
    origin: subAgent ? 'sub-agent' : 'import:dsh',
    labels: labelsOf(fields.rest() ?? {}),
  }
}

/** Facts of the source's header that ours has no key for, as labels `dsh.<name>`. */
function labelsOf(facts: SourceRecord): { readonly [name: string]: string } {
  const labels: [string, string][] = [['imported-from', 'dsh']]
  for (const [name, value] of Object.entries(facts)) {
    const text = textOf(value)
    if (isShort(name) && isShort(text) && labels.length <= LABELS_MAX) labels.push([`dsh.${name}`, text])
  }
  return Object.fromEntries(labels)
}

/** True when everything in the source's header has its place in ours; otherwise the record is kept as an event, too. */
export function fitsHeader(record: SourceRecord): boolean {
  const entries = Object.entries(record)
  return entries.length <= LABELS_MAX && entries.every(([name, value]) => isShort(name) && isShort(textOf(value)))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && isShort(value)
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text) <= LABEL_BYTES_MAX && !/\p{Surrogate}/u.test(text)
}

/** True for the record that a log of this format begins with. Pi's begins alike, but with a `timestamp`. */
export function isSessionRecord(value: unknown): value is SourceRecord {
  return isRecord(value) && value.type === 'session' && isCount(value.createdAt) && typeof value.id === 'string'
}
