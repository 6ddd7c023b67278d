/** Required event types of a log that this program does not know: a resume refuses them unless told otherwise. */
import { SessionError } from '../errors.ts'
import { shownTypes } from '../event/shown-text.ts'
import type { Settings } from '../session/settings.ts'

export function unknownTypes(settings: Settings, types: readonly string[]): readonly string[] {
  return types.filter((type) => !settings.catalog.knows(type))
}

export function unknownEventError(types: readonly string[]): SessionError {
  return new SessionError(
    'UNKNOWN_EVENT',
    `the log holds required event types that are not in the catalog: ${shownTypes(types)}`,
  )
}
