import type { SessionError } from '../errors.ts'
import type { EventCatalog } from '../event/catalog.ts'
import type { MessageFormat } from '../message-format/message-format.ts'
import type { Projection } from '../projection/projection.ts'

/** Given once, when a persistence is opened. */
export interface PersistenceOptions {
  /** Schemas of the harness's own event types. */
  readonly events?: EventCatalog
  /** Projections maintained beside the core ones. */
  readonly projections?: readonly Projection[]
  /** Formats beside `plain`, `anthropic`, `openai` and `ai-sdk`. */
  readonly messageFormats?: readonly MessageFormat[]
  /** Changes every event before it is validated and stored, for example to redact secrets. Must be pure and synchronous. */
  readonly redact?: (type: string, data: unknown) => unknown
  /** Milliseconds from acceptance to the background write, 0 to 200; default 200. */
  readonly writeWindowMs?: number
  /** Bytes that may wait; default and most `LIMITS.pendingBytes`. */
  readonly pendingBytes?: number
  /** Hears a background write failure first. Without it the process emits a warning. */
  readonly onFailure?: (error: SessionError, session: { readonly id: string }) => void
  /** Unix milliseconds; default `Date.now`. */
  readonly clock?: () => number
  /** Ids of new sessions; default UUIDv7. */
  readonly newId?: () => string
}
