import { BACKENDS } from 'session-persistence'

/** Why this installation lacks a backend; undefined where it does not. */
export async function whyUnavailable(scheme: string): Promise<string | undefined> {
  const backend = BACKENDS.find((one) => one.scheme === scheme)
  if (backend === undefined) return 'it is not part of this installation'
  const availability = await backend.availability()
  return availability.available ? undefined : availability.reason
}
