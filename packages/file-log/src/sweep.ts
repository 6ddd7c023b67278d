/** Removes what crashed writers left under temporary names. Only the holder of an id's lock removes that id's. */
import { join } from 'node:path'
import type { FileSystem } from './file-system.ts'
import { attempt, isMissing } from './io-error.ts'
import { isTemporaryFile, type Layout, temporaryOwner } from './layout.ts'
import { removeTree } from './remove-tree.ts'
import { WriterLock } from './writer-lock.ts'

/**
 * Removes the temporary directories of `name`, whose lock the caller holds. A directory may have been renamed to its
 * temporary name without that being on the medium: then nothing in it is removed before the root is synced (`durable`),
 * or a power cut would bring back a session directory without its log, an id that nobody can use.
 */
export async function sweepSession(fs: FileSystem, layout: Layout, name: string, durable: boolean): Promise<void> {
  const all = await attempt('list the root', layout.root, () => fs.readDirectory(layout.root))
  const entries = all.filter((entry) => temporaryOwner(entry) === name)
  if (entries.length === 0) return
  if (durable) await attempt('sync the root', layout.root, () => fs.syncDirectory(layout.root))
  for (const entry of entries) {
    const path = join(layout.root, entry)
    await attempt('remove a left-over directory', path, () => removeTree(fs, path))
  }
}

/** Removes the temporary files inside a session directory whose lock the caller holds. */
export async function sweepDirectory(fs: FileSystem, directory: string): Promise<void> {
  // A handful of names: every other call of opening to write is synchronous, too.
  const entries = await attempt('list a session directory', directory, async () => fs.readDirectorySync(directory))
  for (const { name } of entries) {
    if (!isTemporaryFile(name)) continue
    const path = join(directory, name)
    await attempt('remove a left-over file', path, () => removeTree(fs, path))
  }
}

/**
 * Removes every temporary directory whose writer is gone. For the first writer of a process: after a power cut the
 * lock files that would tell about left-overs may be gone as well. Best effort: what cannot be removed is left.
 */
export async function sweepRoot(fs: FileSystem, layout: Layout, durable: boolean): Promise<void> {
  const names = new Set<string>()
  for (const entry of await fs.readDirectory(layout.root).catch(() => [])) {
    const name = temporaryOwner(entry)
    if (name !== undefined) names.add(name)
  }
  for (const name of names) {
    let lock: WriterLock
    try {
      lock = await WriterLock.acquire(fs, layout.locks, name, name)
    } catch {
      continue
    }
    try {
      await sweepSession(fs, layout, name, durable)
    } catch (error) {
      if (!isMissing(error)) continue
    } finally {
      await lock.release().catch(() => {})
    }
  }
}
