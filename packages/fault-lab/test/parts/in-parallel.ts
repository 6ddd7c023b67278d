/** Rounds that wait for other processes most of the time. */
import { availableParallelism } from 'node:os'

/** Runs every step, as many at once as the machine has processors; the first failure ends it. */
export async function inParallel<T>(items: Iterable<T>, step: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]()
  let failed = false
  const work = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && !failed; next = left.next()) {
      await step(next.value).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work))
}
