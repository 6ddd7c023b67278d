/** What a reader may make of a log that was damaged: refuse it with a type, or give a prefix of what was stored. */
import { type AnySessionEvent, isSessionError, type SessionStorage } from '@session-persistence/core'
import { firstForeign } from './expectation.ts'
import { readSession } from './read-session.ts'

export type DamageVerdict =
  /** Everything is read, as if nothing had happened. */
  | { readonly kind: 'same' }
  /** Fewer events, in front, without an error. */
  | { readonly kind: 'prefix'; readonly events: number }
  | { readonly kind: 'refused' }
  /** Never to be seen. */
  | { readonly kind: 'violation'; readonly problem: string }

const DAMAGE: ReadonlySet<string> = new Set(['CORRUPT', 'UNSUPPORTED_VERSION'])

export async function readDamaged(
  storage: SessionStorage,
  id: string,
  stored: readonly AnySessionEvent[],
): Promise<DamageVerdict> {
  try {
    const found = (await readSession(storage, id)) ?? []
    const foreign = firstForeign(found, stored)
    if (foreign >= 0) return { kind: 'violation', problem: `event ${foreign} is not the one that was stored` }
    return found.length === stored.length ? { kind: 'same' } : { kind: 'prefix', events: found.length }
  } catch (error) {
    if (!isSessionError(error)) return { kind: 'violation', problem: `an error without a type: ${String(error)}` }
    if (DAMAGE.has(error.code)) return { kind: 'refused' }
    return { kind: 'violation', problem: `${error.code}: ${error.message}` }
  }
}
