import type { CaseContext } from './conformance-case.ts'

/** Most places that a full run tries in one file: all of a small log, and a large part of the pages of a database. */
const PLACES_FULL = 4_096
const PLACES_QUICK = 160
/** Block size of file systems and databases: what is written together ends there. */
const BLOCK = 4_096

/**
 * Places in something `length` long at which to cut or damage it: all of them where they are few enough, else both
 * ends, the ends of blocks, and seeded ones between.
 */
export function places(context: CaseContext, length: number, full: number = PLACES_FULL): readonly number[] {
  const most = context.effort === 'full' ? full : Math.min(full, PLACES_QUICK)
  if (length <= most) return Array.from({ length }, (_, place) => place)
  const chosen = new Set<number>()
  for (let place = 0; place < most / 8; place += 1) chosen.add(place).add(length - 1 - place)
  for (let block = BLOCK; block < length && chosen.size < most / 2; block += BLOCK) chosen.add(block - 1).add(block)
  while (chosen.size < most) chosen.add(Math.floor(context.random() * length))
  return [...chosen].sort((a, b) => a - b)
}
