/**
 * From what a caller passes to an event: redacted, validated, copied, frozen and numbered, and nothing done when
 * anything of it is refused (contract family APPEND).
 */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent, AppendOptions, Json } from '../event/event.ts'
import { checkEventBytes } from '../event/event-bytes.ts'
import { eventJson } from '../event/event-json.ts'
import { type LosslessCopy, losslessCopy } from '../event/lossless-json.ts'
import { type PlainDelta, plainDelta, plainDeltaSize } from '../event/plain-delta.ts'
import { isStrayPromise } from '../event/stray-promise.ts'
import { LIMITS } from '../limits.ts'
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
const CHUNK = 'assistant/chunk'

function checkShape(input: RawInput): void {
  if (typeof input !== 'object' || input === null || typeof input.type !== 'string') {
    throw new SessionError('INVALID_ARGUMENT', 'an event needs a type and data')
  }
}

/** The hook sees data that was checked already, so that it cannot turn what JSON would lose into something else unseen. */
function redacted(type: string, data: Json, redact: NonNullable<Settings['redact']>): LosslessCopy {
  let changed: unknown
  try {
    changed = redact(type, data)
  } catch (cause) {
    throw new SessionError('INVALID_ARGUMENT', 'redact threw', { cause })
  }
  if (isStrayPromise(changed)) {
    throw new SessionError('INVALID_ARGUMENT', 'redact must be synchronous: it returned a promise')
  }
  return losslessCopy(changed, '$.data')
}

/** INVALID_EVENT, UNKNOWN_EVENT, TOO_LARGE, NOT_SUPPORTED (an asynchronous schema). */
export function intake(input: RawInput, seq: number, time: number, settings: Settings): AcceptedEvent {
  checkShape(input)
  if (input.type === CHUNK && settings.redact === undefined) {
    const delta = plainDelta(input.data)
    if (delta !== undefined && input.surface === undefined && input.sources === undefined) {
      return deltaEvent(delta, seq, time)
    }
  }
  const { type } = input
  const given = losslessCopy(input.data, '$.data')
  const data = settings.redact === undefined ? given : redacted(type, given.value, settings.redact)
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

function deltaEvent(data: PlainDelta, seq: number, time: number): AcceptedEvent {
  const event = Object.freeze({ seq, time, type: CHUNK, data })
  const size = ENVELOPE_SIZE + CHUNK.length + plainDeltaSize(data)
  checkEventBytes(event, size)
  return { event, size }
}

/**
 * TOO_LARGE when events that belong together exceed one batch. Sizes are estimates, up to six times too low: only a group
 * that could be too large is measured.
 */
export function checkBatchBytes(accepted: readonly AcceptedEvent[]): void {
  const size = accepted.reduce((sum, entry) => sum + entry.size, 0)
  if (size * 6 <= LIMITS.batchBytes) return
  const bytes = accepted.reduce((sum, entry) => sum + Buffer.byteLength(eventJson(entry.event)) + 1, 0)
  if (bytes <= LIMITS.batchBytes) return
  throw new SessionError('TOO_LARGE', `events of one batch exceed ${LIMITS.batchBytes} bytes (batchBytes)`, {
    expected: LIMITS.batchBytes,
    found: bytes,
  })
}
