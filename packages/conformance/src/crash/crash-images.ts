/**
 * Every image that power loss may leave of a disk: any subset of the pending changes of directory entries, and of each
 * file any of its states. Exhaustive where that is small; else each part in all its states while the others are absent,
 * whole, or drawn at random.
 */
import { applyEntry, type Disk, type Entries, type EntryChange, type FileNode } from './disk.ts'
import { DiskImage } from './disk-image.ts'
import { type Content, fileStates } from './file-states.ts'
import { type Inode, ROOT } from './operation.ts'
import type { Random } from './random.ts'
import { subsets } from './subsets.ts'

export interface EnumerationOptions {
  readonly random: Random
  /** Files of which only three states matter: lock files, whose content nobody relies on. */
  readonly coarse?: (path: string) => boolean
  /** Every n-th byte of a tear; 1 by default. */
  readonly step?: number
}

/** Made only when it is looked at, before the disk changes again. */
export type CrashImage = () => DiskImage

/** Images may repeat. */
export function* crashImages(disk: Disk, options: EnumerationOptions): Generator<CrashImage, void, undefined> {
  const { coarse, random, step = 1 } = options
  const known = new Map<FileNode, readonly Content[]>()
  const statesOf = (node: FileNode): readonly Content[] => {
    const found = known.get(node) ?? fileStates(node, step)
    known.set(node, found)
    return found
  }
  // Every content with every name present; with names missing, whole or absent is what matters.
  const fewStates = (path: string, subset: number): boolean => subset > 3 || coarse?.(path) === true
  for (const [index, kept] of entrySubsets(disk.pendingEntries).entries()) {
    const reachable = reach(disk, kept)
    const states = new Map<string, readonly Content[]>()
    for (const [path, node] of reachable) {
      if (node === undefined) continue
      const found = fewStates(path, index) ? [() => node.durable, () => node.bytes] : statesOf(node)
      if (found.length > 1) states.set(path, found)
    }
    yield* imagesOf(reachable, states, random)
  }
}

/**
 * About `most` of the crash images, evenly over all of them and others for every state of `random`; and always, first,
 * the one in which nothing arrived that was not synced.
 */
export function drawnImages(disk: Disk, options: EnumerationOptions, most: number): readonly CrashImage[] {
  const worst: CrashImage = () => durableImage(disk)
  const all = [...crashImages(disk, options)]
  if (all.length <= most) return [worst, ...all]
  const share = (most / all.length) * 2 ** 20
  return [worst, ...all.filter(() => options.random.below(2 ** 20) < share)]
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
  states: ReadonlyMap<string, readonly Content[]>,
  random: Random,
): Generator<CrashImage, void, undefined> {
  const absent = (_: string, node: FileNode): Buffer => node.durable
  const whole = (_: string, node: FileNode): Buffer => node.bytes
  const drawn = (path: string, node: FileNode): Buffer => {
    const found = states.get(path)
    return found?.[random.below(found.length)]?.() ?? node.bytes
  }
  yield () => new DiskImage(mapContent(reachable, absent))
  if (states.size === 0) return
  yield () => new DiskImage(mapContent(reachable, whole))
  for (const [target, contents] of states) {
    const others = states.size === 1 ? [whole] : [absent, whole, drawn]
    for (const content of contents) {
      for (const other of others) {
        yield () =>
          new DiskImage(mapContent(reachable, (path, node) => (path === target ? content() : other(path, node))))
      }
    }
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
