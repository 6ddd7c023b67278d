/** Where the sessions of the laboratory are, on a modelled disk and on a real one. */
export const SESSIONS_DIRECTORY = 'sessions'

/** `place`: where the disk is mounted, or a directory of a case's own. */
export function sessionsIn(place: string): string {
  return `${place}/${SESSIONS_DIRECTORY}`
}
