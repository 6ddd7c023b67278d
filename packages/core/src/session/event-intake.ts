/**
 * From what a caller passes to an event: redacted, validated, copied, frozen and numbered, and nothing done when
 * anything of it is refused (contract family APPEND).
 */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent, AppendOptions } from '../event/event.ts'
import { checkEventBytes } from '../event/event-bytes.ts'
import { losslessCopy } from '../event/lossless-json.ts'
import type { Settings } from './settings.ts'

/** An input as `append` and `appendAll` take it, before any check. */
export interface RawInput extends AppendOptions {
  readonly type: string
  readonly data: unknown
}

export interface AcceptedEvent {
  readonly event: AnySessionEvent
  /** Estimated UTF-8 bytes as JSON. */
  readonly size: number
}

/** Bytes of the envelope around the data, generously. */
const ENVELOPE_SIZE = 64

function checkShape(input: RawInput): void {
  if (typeof input !== 'object' || input === null || typeof input.type !== 'string') {
    throw new SessionError('INVALID_ARGUMENT', 'an event needs a type and data')
  }
}

/** INVALID_EVENT, UNKNOWN_EVENT, TOO_LARGE, NOT_SUPPORTED (an asynchronous schema). */
export function intake(input: RawInput, seq: number, time: number, settings: Settings): AcceptedEvent {
  checkShape(input)
  const { type } = input
  const raw = settings.redact === undefined ? input.data : settings.redact(type, input.data)
  const data = losslessCopy(raw, '$.data')
  const { ignorable } = settings.catalog.check(type, data.value)
  let size = ENVELOPE_SIZE + type.length + data.size
  const event: Record<string, unknown> = { seq, time, type, data: data.value }
  if (ignorable) event.ignorable = true
  for (const key of ['surface', 'sources'] as const) {
    if (input[key] === undefined) continue
    const copy = losslessCopy(input[key], `$.${key}`)
    event[key] = copy.value
    size += copy.size
  }
  const accepted = Object.freeze(event) as unknown as AnySessionEvent
  checkEventBytes(accepted, size)
  return { event: accepted, size }
}
