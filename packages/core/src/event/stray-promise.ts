/**
 * Functions that a harness gives (projections, listeners, redaction) are synchronous. One that returns a promise all the
 * same would end the process when that promise rejects with nobody listening.
 */

/** True for a promise, which is then taken charge of: its rejection goes to `onRejection`, or nowhere. */
export function isStrayPromise(value: unknown, onRejection: (error: unknown) => void = () => {}): boolean {
  if (typeof value !== 'object' || value === null) return false
  try {
    if (!('then' in value) || typeof value.then !== 'function') return false
  } catch {
    // A proxy or a getter that throws: nothing that could reject later.
    return false
  }
  Promise.resolve(value).catch(onRejection)
  return true
}
