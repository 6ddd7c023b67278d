/** One change at every place of something that is stored. */
import type { DamageVerdict } from '../scenario/read-damaged.ts'
import { places } from '../suite.ts'
import type { DamageSubject } from './damaged-log.ts'

export interface DamageCounts {
  tried: number
  /** Read as if nothing had happened. */
  same: number
  /** Fewer events, in front. */
  prefix: number
  refused: number
  /** The first few, each with its place. */
  readonly violations: string[]
}

/** Every length. */
export async function cutEverywhere(subject: DamageSubject): Promise<DamageCounts> {
  return await everywhere(subject, subject.whole.length, (length) => subject.whole.subarray(0, length))
}

/** Every bit. */
export async function flipEverywhere(subject: DamageSubject): Promise<DamageCounts> {
  const { whole } = subject
  return await everywhere(subject, whole.length * 8, (bit) => {
    const flipped = Buffer.from(whole)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return flipped
  })
}

const VIOLATIONS_MAX = 5

async function everywhere(
  { verdictOn }: DamageSubject,
  count: number,
  change: (place: number) => Buffer,
): Promise<DamageCounts> {
  const counts: DamageCounts = { tried: 0, same: 0, prefix: 0, refused: 0, violations: [] }
  for (const place of places(count)) {
    const verdict: DamageVerdict = await verdictOn(change(place))
    counts.tried++
    if (verdict.kind !== 'violation') counts[verdict.kind]++
    else if (counts.violations.push(`${place}: ${verdict.problem}`) >= VIOLATIONS_MAX) break
  }
  return counts
}
