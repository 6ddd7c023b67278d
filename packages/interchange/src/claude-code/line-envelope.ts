import { isDeepStrictEqual } from 'node:util'
import type { Moment } from '../assembly/time-source.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isRecord } from '../source/record-fields.ts'

/**
 * What a line says beside its message: uuid, parent, version, directory and so on. Left out is only what the event says
 * itself: the type, a time that the event gives back exactly, and message fields that are equal in the event's message.
 */
export function lineEnvelope(
  record: SourceRecord,
  when: Moment,
  message: SourceRecord,
  taken: readonly string[] = [],
): SourceRecord {
  const envelope: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(record)) {
    if (name === 'type' || name === 'message' || taken.includes(name)) continue
    if (name === 'timestamp' && !when.inferred && value === new Date(when.time).toISOString()) continue
    define(envelope, name, value)
  }
  const own = isRecord(record.message) ? record.message : {}
  const different = Object.entries(own).filter(
    ([name, value]) => name !== 'content' && !isDeepStrictEqual(value, message[name]),
  )
  if (different.length > 0) define(envelope, 'message', Object.fromEntries(different))
  return envelope
}

/** Not an assignment: a name may be `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}
