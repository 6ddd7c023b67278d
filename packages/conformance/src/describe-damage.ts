import type { CaseContext } from './conformance-case.ts'
import { bytesOf, type LogPart } from './log-parts.ts'

/** What was done to bytes, in a few words, such as `zeroed bytes 3–9`; undefined where they are the same. */
export function damageOf(before: Uint8Array, after: Uint8Array): string | undefined {
  const least = Math.min(before.length, after.length)
  let from = 0
  while (from < least && before[from] === after[from]) from += 1
  if (from === least && before.length === after.length) return undefined
  if (from === after.length) return `cut ${before.length} bytes to ${after.length}`
  if (before.length !== after.length) return `put ${after.length} other bytes in place of ${before.length}`
  let to = least - 1
  while (before[to] === after[to]) to -= 1
  const changed = (before[from] ?? 0) ^ (after[from] ?? 0)
  if (from === to && (changed & (changed - 1)) === 0) return `flipped bit ${Math.log2(changed)} of byte ${from}`
  const isZeroed = after.subarray(from, to + 1).every((byte) => byte === 0)
  return `${isZeroed ? 'zeroed' : 'changed'} bytes ${from}\u2013${to}`
}

/** The same for the records of a session, the first changed one named by its place from 1. */
export function damageOfRecords(before: readonly LogPart[], after: readonly LogPart[]): string | undefined {
  const [were, are] = [before.flat(), after.flat()]
  if (were.length !== are.length) return `put ${are.length} records in place of ${were.length}`
  const changed = were.flatMap((record, index) => {
    const damage = damageOf(record, are[index] ?? new Uint8Array())
    return damage === undefined ? [] : [`${damage} of record ${index + 1}`]
  })
  if (changed.length === 0) return undefined
  return changed.length === 1 ? changed[0] : `${changed[0]}, and ${changed.length - 1} more records`
}

/** The same for a file that holds the parts one after the other. */
export function damageOfFile(before: readonly LogPart[], after: readonly LogPart[]): string | undefined {
  return damageOf(bytesOf(before), bytesOf(after))
}

/** Puts what the kit does to the medium into the history of a failure; the words are made only for one that is shown. */
export function noteDamage({ note }: CaseContext, what: string, damage: () => string | undefined): void {
  note(() => `the kit: ${what}: ${damage() ?? 'put back as it was'}`)
}
