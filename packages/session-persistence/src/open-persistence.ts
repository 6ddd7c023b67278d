import {
  anOptionsObject,
  type PersistenceOptions,
  SessionError,
  type SessionPersistence,
} from '@session-persistence/core'
import { BACKENDS, type Backend } from './backends.ts'

/** `scheme:place` taken apart. */
export interface BackendLocation {
  readonly backend: Backend
  readonly place: string
}

/**
 * Takes a location such as `jsonl:./sessions` or `memory:` apart, without opening it.
 *
 * Throws INVALID_ARGUMENT for a scheme that no backend has, for a missing place, and for a place where none may be.
 */
export function parseLocation(location: string): BackendLocation {
  if (typeof location !== 'string') throw new SessionError('INVALID_ARGUMENT', 'the location must be a string')
  const colon = location.indexOf(':')
  const scheme = location.slice(0, Math.max(colon, 0))
  const place = location.slice(colon + 1)
  const backend = BACKENDS.find((candidate) => candidate.scheme === scheme)
  if (backend === undefined) {
    const known = BACKENDS.map((candidate) => `${candidate.scheme}:${candidate.place}`).join(', ')
    throw new SessionError('INVALID_ARGUMENT', `the location names no known backend; known are ${known}`)
  }
  if (backend.place !== '' && place === '') {
    throw new SessionError('INVALID_ARGUMENT', `the location ${scheme}: lacks its ${backend.place.toLowerCase()}`)
  }
  if (backend.place === '' && place !== '') {
    throw new SessionError('INVALID_ARGUMENT', `nothing may follow ${scheme}: in a location`)
  }
  return { backend, place }
}

/**
 * Opens the backend that a location names: `jsonl:DIRECTORY`, `jsonl-zstd:DIRECTORY`, `sqlite:FILE`, or `memory:` for
 * sessions that live as long as this process. Relative paths are resolved against the working directory. Open a place
 * once a process.
 *
 * Rejects with INVALID_ARGUMENT for a malformed location, NOT_SUPPORTED for a backend that this installation lacks,
 * and with what the backend's own open function rejects with.
 */
export async function openPersistence(location: string, options: PersistenceOptions = {}): Promise<SessionPersistence> {
  const { backend, place } = parseLocation(location)
  const checked = anOptionsObject(options)
  const availability = await backend.availability()
  if (!availability.available) {
    throw new SessionError('NOT_SUPPORTED', `the ${backend.scheme} backend is not available: ${availability.reason}`)
  }
  return backend.open(place, checked)
}
