/**
 * What `work` gives; rejects where the process has nothing left to do that could settle it, since a backend never answers. It would
 * exit without a word, and without what was measured.
 */
export async function unlessStuck<T>(work: Promise<T>): Promise<T> {
  let stuck = (): unknown => undefined
  const never = new Promise<never>((_, reject) => {
    // In a turn of its own, which keeps the process: what comes next may be stuck as well, and only then it asks again.
    stuck = () => setImmediate(() => reject(new Error('it waits for something that can never settle')))
  })
  process.once('beforeExit', stuck)
  try {
    return await Promise.race([work, never])
  } finally {
    process.removeListener('beforeExit', stuck)
  }
}
