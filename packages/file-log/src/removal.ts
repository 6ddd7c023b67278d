/** Deletes one session completely (docs/formats/files.md, Delete). The caller holds its lock. */
import { join } from 'node:path'
import type { FileSystem } from './file-system.ts'
import { attempt, ioError, isMissing } from './io-error.ts'
import { type Layout, statDirectory, temporaryOwner } from './layout.ts'
import { removeTree } from './remove-tree.ts'

/** False when there is nothing to delete under the lock of `name`: no session, no writer about to make one, no remains. */
export async function isAnythingLeft(fs: FileSystem, layout: Layout, name: string): Promise<boolean> {
  const directory = layout.directory(name)
  if (statDirectory(fs, directory) !== undefined && (await exists(fs, layout.log(directory)))) return true
  if (await exists(fs, join(layout.locks, name))) return true
  const entries = await attempt('list the root', layout.root, () => fs.readDirectory(layout.root))
  return entries.some((entry) => temporaryOwner(entry) === name)
}

/**
 * True when a session was there. It disappears in one step, by a rename that is made durable before anything is
 * removed: a crash leaves a temporary directory for the next sweep, never half a session.
 */
export async function removeSession(fs: FileSystem, layout: Layout, name: string, durable: boolean): Promise<boolean> {
  const directory = layout.directory(name)
  const syncRoot = async (): Promise<void> => {
    if (durable) await attempt('sync the root', layout.root, () => fs.syncDirectory(layout.root))
  }
  if (statDirectory(fs, directory) === undefined) {
    // Perhaps the work of a delete that died, or could not sync, after its rename.
    await syncRoot()
    return false
  }
  // A directory without a log is somebody else's.
  if (!(await exists(fs, layout.log(directory)))) return false
  const aside = layout.temporaryDirectory(name)
  await attempt('move the session aside', directory, () => fs.rename(directory, aside))
  await syncRoot()
  await attempt('remove the session', aside, () => removeTree(fs, aside))
  return true
}

async function exists(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await fs.lstat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw ioError(error, 'look at a file', path)
  }
}
