import { changedFile } from './changed-file.ts'

/** One file at a moment at which nothing writes. The inode tells whether it is still the same file. */
export interface FileState {
  readonly bytes: Buffer
  readonly inode: bigint
}

export type FilesAtRest = ReadonlyMap<string, FileState>

/** How each batch reaches its file, and so which file a crash can tear. */
export type BatchFile =
  /** Batches are appended to it, or each gets a new file, of which it is the last. */
  | { readonly kind: 'appended' | 'new'; readonly path: string; readonly ends: readonly number[] }
  /** Each flush puts another file in the place of one, and changes none: nothing can be torn. */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'unknown' }

/** Seen from all files before the first flush, and after each. The first makes what was not there yet: no sign. Pure. */
export function batchFileOf(states: readonly FilesAtRest[]): BatchFile {
  const flushes = states.slice(2).map((after, index) => [states[index + 1] ?? new Map(), after] as const)
  const grown = flushes.map(([before, after]) => changedFile(bytesOf(before), bytesOf(after)))
  const path = grown.findLast((changed) => changed?.grew === true)?.path
  if (path !== undefined) return { kind: 'appended', path, ends: endsIn(path, states) }
  if (flushes.length === 0) return { kind: 'unknown' }
  const added = flushes.map(([before, after]) => onlyAdded(before, after))
  const last = added.at(-1)
  if (last !== undefined && added.every((one) => one !== undefined)) {
    return { kind: 'new', path: last, ends: endsIn(last, states) }
  }
  return flushes.every(([before, after]) => isReplaced(before, after)) ? { kind: 'replaced' } : { kind: 'unknown' }
}

function endsIn(path: string, states: readonly FilesAtRest[]): readonly number[] {
  return states.slice(1).map((files) => files.get(path)?.bytes.length ?? 0)
}

function bytesOf(files: FilesAtRest): ReadonlyMap<string, Buffer> {
  return new Map([...files].map(([path, { bytes }]) => [path, bytes]))
}

function changedPaths(before: FilesAtRest, after: FilesAtRest): readonly string[] {
  const changed = [...after].filter(([path, { bytes }]) => before.get(path)?.bytes.equals(bytes) !== true)
  return changed.map(([path]) => path)
}

/** The one file that is new, where that is all that changed. */
function onlyAdded(before: FilesAtRest, after: FilesAtRest): string | undefined {
  const [path, ...more] = changedPaths(before, after)
  if (path === undefined || more.length > 0 || before.has(path) || after.size !== before.size + 1) return undefined
  return path
}

/** The same names, at least one of other bytes, and each of those another file than before: both were there at once. */
function isReplaced(before: FilesAtRest, after: FilesAtRest): boolean {
  if (before.size !== after.size) return false
  const changed = changedPaths(before, after)
  return (
    changed.length > 0 &&
    changed.every((path) => before.has(path) && before.get(path)?.inode !== after.get(path)?.inode)
  )
}
