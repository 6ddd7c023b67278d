/**
 * What a file may hold after power loss, as far as it can be counted: where it grew any length, torn at any byte, with
 * any subset of its sectors zeroed; of overwritten sectors the old or the new. Exhaustive where that is small.
 */
import type { FileNode } from './disk.ts'
import { subsets } from './subsets.ts'

/** Made only when it is looked at: most states are counted and left out. */
export type Content = () => Buffer

const SECTOR = 512

/** May repeat. One content alone means that nothing of the file is pending. `step`: every n-th byte of a tear. */
export function fileStates(node: FileNode, step: number): readonly Content[] {
  const { bytes, durable, shortest } = node
  if (node.dirty.length === 0 && bytes.length === durable.length && shortest === durable.length) return [() => durable]
  const kept = Math.min(shortest, durable.length, bytes.length)
  const written = certain(node)
  const added = written.subarray(kept)
  const states: Content[] = []
  for (const [index, prefix] of overwritten(durable.subarray(0, kept), written.subarray(0, kept), step).entries()) {
    // A pending cut that did not arrive.
    states.push(joined(prefix, () => durable.subarray(kept)))
    // Old or new as a whole meets every state of what was added; a mixture meets it whole.
    if (index > 1) states.push(joined(prefix, () => added))
    else for (const grown of growths(added, kept, step)) states.push(joined(prefix, grown))
  }
  return states
}

function joined(first: Content, second: Content): Content {
  return () => Buffer.concat([first(), second()])
}

/** What a sync would write now: pages that an earlier sync failed to write read as they were, or as zeros. */
function certain({ bytes, durable, shortest, dirty }: FileNode): Buffer {
  const written = Buffer.alloc(bytes.length)
  durable.copy(written, 0, 0, Math.min(durable.length, shortest))
  for (const [start, end] of dirty) bytes.copy(written, start, start, end)
  return written
}

/** Old or new for each differing sector, all new and all old first; and torn at each differing byte. */
function overwritten(old: Buffer, next: Buffer, step: number): readonly Content[] {
  if (old.equals(next)) return [() => next]
  const sectors: number[] = []
  for (let at = 0; at < old.length; at += SECTOR) {
    if (!old.subarray(at, at + SECTOR).equals(next.subarray(at, at + SECTOR))) sectors.push(at)
  }
  const found: Content[] = subsets(sectors.length).map((chosen) => () => {
    const mixed = Buffer.from(old)
    for (const [index, at] of sectors.entries()) if (chosen(index)) next.copy(mixed, at, at, at + SECTOR)
    return mixed
  })
  for (const sector of sectors) {
    for (let cut = sector + 1; cut < Math.min(sector + SECTOR, old.length); cut += step) {
      if (old[cut] === next[cut]) continue
      found.push(() => Buffer.concat([next.subarray(0, cut), old.subarray(cut)]))
      found.push(() => Buffer.concat([old.subarray(0, cut), next.subarray(cut)]))
    }
  }
  return found
}

/** States of bytes that were added at `position`: cut at any byte, zeros from any byte on, any sectors never written. */
function* growths(added: Buffer, position: number, step: number): Generator<Content, void, undefined> {
  yield () => added
  if (added.length === 0) return
  const sectors = sectorsOf(added.length, position)
  const choices = subsets(sectors.length)
  const isExhaustive = choices.length === 2 ** sectors.length
  for (const [index, keeps] of choices.entries()) {
    const holed = (): Buffer => withHoles(added, sectors, keeps)
    yield holed
    if (index > 0 && !isExhaustive) continue
    const [begin, lastKept] = sectors.findLast((_, at) => keeps(at)) ?? [0, 0]
    // Behind the last sector that was written a cut shows zeros only: a few of those are enough.
    for (let at = begin; at < added.length; at += at < lastKept ? step : 191) yield () => holed().subarray(0, at)
    for (let at = begin + 1; at < lastKept; at += step) yield () => holed().fill(0, at)
  }
}

type Sector = readonly [start: number, end: number]

function withHoles(added: Buffer, sectors: readonly Sector[], keeps: (index: number) => boolean): Buffer {
  const holed = Buffer.from(added)
  for (const [index, [start, end]] of sectors.entries()) if (!keeps(index)) holed.fill(0, start, end)
  return holed
}

function sectorsOf(length: number, position: number): readonly Sector[] {
  const sectors: Sector[] = []
  for (let start = 0; start < length; ) {
    const end = Math.min(length, start + SECTOR - ((position + start) % SECTOR))
    sectors.push([start, end])
    start = end
  }
  return sectors
}
