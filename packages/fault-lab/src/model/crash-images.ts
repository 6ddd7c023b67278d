/**
 * Every image that power loss may leave of a disk, as far as it can be counted: any subset of the pending changes of
 * directory entries; of a file that grew any length, torn at any byte, with any subset of its sectors zeroed; of
 * overwritten sectors the old or the new. Exhaustive where that is small; else each part in all its states while the
 * others are absent, whole, or drawn at random.
 */
import { applyEntry, type Disk, type Entries, type EntryChange, type FileNode } from './disk.ts'
import { DiskImage } from './disk-image.ts'
import { type Inode, ROOT } from './operation.ts'
import type { Random } from './random.ts'

const SECTOR = 512
/** Subsets of more parts than this are sampled: none, all, each alone, each missing, each prefix. */
const EXHAUSTIVE_PARTS_MAX = 6

export interface EnumerationOptions {
  readonly random: Random
  /** Files of which only three states matter: lock files, whose content nobody relies on. */
  readonly coarse?: (path: string) => boolean
  /** Every n-th byte of a tear; 1 by default. */
  readonly step?: number
}

/** Images may repeat. */
export function* crashImages(disk: Disk, options: EnumerationOptions): Generator<DiskImage, void, undefined> {
  // Every content with every name present; with names missing, whole or absent is what matters.
  const fewStates = (path: string, subset: number): boolean => subset > 3 || options.coarse?.(path) === true
  for (const [index, kept] of entrySubsets(disk.pendingEntries).entries()) {
    const reachable = reach(disk, kept)
    const states = new Map<string, readonly Buffer[]>()
    for (const [path, node] of reachable) {
      if (node === undefined) continue
      const found = fewStates(path, index) ? [node.durable, node.bytes] : fileStates(node, options)
      if (found.length > 1) states.set(path, found)
    }
    yield* imagesOf(reachable, states, options.random)
  }
}

/** The image that nothing pending reached: what is promised must be in it. */
export function durableImage(disk: Disk): DiskImage {
  return new DiskImage(mapContent(reach(disk, []), (_, node) => node.durable))
}

/** The image that everything reached: what a process that starts after another one died sees. */
export function visibleImage(disk: Disk): DiskImage {
  return new DiskImage(mapContent(reach(disk, disk.pendingEntries), (_, node) => node.bytes))
}

type Reachable = ReadonlyMap<string, FileNode | undefined>

function mapContent(
  reachable: Reachable,
  content: (path: string, node: FileNode) => Buffer,
): Map<string, Buffer | undefined> {
  const nodes = new Map<string, Buffer | undefined>()
  for (const [path, node] of reachable) nodes.set(path, node === undefined ? undefined : content(path, node))
  return nodes
}

function* imagesOf(
  reachable: Reachable,
  states: ReadonlyMap<string, readonly Buffer[]>,
  random: Random,
): Generator<DiskImage, void, undefined> {
  const absent = (_: string, node: FileNode): Buffer => node.durable
  const whole = (_: string, node: FileNode): Buffer => node.bytes
  yield new DiskImage(mapContent(reachable, absent))
  if (states.size === 0) return
  yield new DiskImage(mapContent(reachable, whole))
  for (const [target, contents] of states) {
    const others = states.size === 1 ? [whole] : [absent, whole, drawn(states, random)]
    for (const content of contents) {
      for (const other of others) {
        yield new DiskImage(mapContent(reachable, (path, node) => (path === target ? content : other(path, node))))
      }
    }
  }
}

function drawn(
  states: ReadonlyMap<string, readonly Buffer[]>,
  random: Random,
): (path: string, node: FileNode) => Buffer {
  return (path, node) => {
    const found = states.get(path)
    return found?.[random.below(found.length)] ?? node.bytes
  }
}

/** Paths to files (with their node) and directories, parents first, when `kept` of the pending changes arrived. */
function reach(disk: Disk, kept: readonly EntryChange[]): Reachable {
  const changed: Entries = new Map()
  const entriesOf = (inode: Inode): Map<string, Inode> => {
    const found = changed.get(inode)
    if (found !== undefined) return found
    const copy = new Map(disk.directory(inode).durable)
    changed.set(inode, copy)
    return copy
  }
  for (const change of kept) applyEntry(entriesOf, change)
  const found = new Map<string, FileNode | undefined>()
  const walk = (inode: Inode, path: string): void => {
    for (const [name, child] of changed.get(inode) ?? disk.directory(inode).durable) {
      const at = path === '' ? name : `${path}/${name}`
      const node = disk.nodes.get(child)
      if (node?.kind === 'directory') {
        found.set(at, undefined)
        walk(child, at)
      } else if (node !== undefined) {
        found.set(at, node)
      }
    }
  }
  walk(ROOT, '')
  return found
}

/** The subset that keeps all comes first. */
function entrySubsets(pending: readonly EntryChange[]): (readonly EntryChange[])[] {
  return subsets(pending.length).map((chosen) => pending.filter((_, index) => chosen(index)))
}

/** Choices among `count` parts; all of them first, then none. */
function subsets(count: number): ((index: number) => boolean)[] {
  const found: ((index: number) => boolean)[] = [() => true]
  if (count === 0) return found
  if (count <= EXHAUSTIVE_PARTS_MAX) {
    for (let bits = 0; bits < 2 ** count - 1; bits++) found.push((index) => (bits & (1 << index)) !== 0)
    return found
  }
  found.push(() => false)
  for (let at = 0; at < count; at++) {
    found.push(
      (index) => index === at,
      (index) => index !== at,
      (index) => index < at,
      (index) => index >= at,
    )
  }
  return found
}

/** Contents that a file may have on the medium; may repeat. */
function fileStates(node: FileNode, { step = 1 }: { readonly step?: number }): readonly Buffer[] {
  const { bytes, durable, shortest } = node
  if (node.dirty.length === 0 && bytes.length === durable.length && shortest === durable.length) return [durable]
  const kept = Math.min(shortest, durable.length, bytes.length)
  const written = certain(node)
  const prefixes = overwritten(durable.subarray(0, kept), written.subarray(0, kept), step)
  const states: Buffer[] = []
  for (const [index, prefix] of prefixes.entries()) {
    // A pending cut that did not arrive.
    states.push(Buffer.concat([prefix, durable.subarray(kept)]))
    const added = written.subarray(kept)
    // Old or new as a whole meets every state of what was added; a mixture meets it whole.
    if (index > 1) states.push(Buffer.concat([prefix, added]))
    else for (const grown of growths(added, kept, step)) states.push(Buffer.concat([prefix, grown]))
  }
  return states
}

/** What a sync would write now: pages that an earlier sync failed to write read as they were, or as zeros. */
function certain({ bytes, durable, shortest, dirty }: FileNode): Buffer {
  const written = Buffer.alloc(bytes.length)
  durable.copy(written, 0, 0, Math.min(durable.length, shortest))
  for (const [start, end] of dirty) bytes.copy(written, start, start, end)
  return written
}

/** Old or new for each differing sector, all new and all old first; and torn at each differing byte. */
function overwritten(old: Buffer, next: Buffer, step: number): readonly Buffer[] {
  if (old.equals(next)) return [next]
  const sectors: number[] = []
  for (let at = 0; at < old.length; at += SECTOR) {
    if (!old.subarray(at, at + SECTOR).equals(next.subarray(at, at + SECTOR))) sectors.push(at)
  }
  const found = subsets(sectors.length).map((chosen) => {
    const mixed = Buffer.from(old)
    for (const [index, at] of sectors.entries()) if (chosen(index)) next.copy(mixed, at, at, at + SECTOR)
    return mixed
  })
  for (const sector of sectors) {
    for (let cut = sector + 1; cut < Math.min(sector + SECTOR, old.length); cut += step) {
      if (old[cut] === next[cut]) continue
      found.push(Buffer.concat([next.subarray(0, cut), old.subarray(cut)]))
      found.push(Buffer.concat([old.subarray(0, cut), next.subarray(cut)]))
    }
  }
  return found
}

/** States of bytes that were added at `position`: cut at any byte, zeros from any byte on, any sectors never written. */
function* growths(added: Buffer, position: number, step: number): Generator<Buffer, void, undefined> {
  yield added
  if (added.length === 0) return
  const sectors = sectorsOf(added.length, position)
  let torn = 0
  for (const keeps of subsets(sectors.length)) {
    const holed = Buffer.from(added)
    let lastKept = 0
    for (const [index, [start, end]] of sectors.entries()) {
      if (keeps(index)) lastKept = end
      else holed.fill(0, start, end)
    }
    yield holed
    if (torn++ > 0 && sectors.length > EXHAUSTIVE_PARTS_MAX) continue
    // Behind the last sector that was written a cut shows zeros only: a few of those are enough.
    const [begin] = sectors.find(([, end]) => end === lastKept) ?? [0]
    for (let at = begin; at < added.length; at += at < lastKept ? step : 191) yield holed.subarray(0, at)
    for (let at = begin + 1; at < lastKept; at += step) {
      yield Buffer.from(holed).fill(0, at)
    }
  }
}

function sectorsOf(length: number, position: number): readonly (readonly [number, number])[] {
  const sectors: (readonly [number, number])[] = []
  for (let start = 0; start < length; ) {
    const end = Math.min(length, start + SECTOR - ((position + start) % SECTOR))
    sectors.push([start, end])
    start = end
  }
  return sectors
}
