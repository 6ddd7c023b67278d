/** Removes a directory with everything in it, following no link. */
import { join } from 'node:path'
import type { FileSystem } from './file-system.ts'
import { isMissing } from './io-error.ts'

export async function removeTree(fs: FileSystem, path: string): Promise<void> {
  try {
    if ((await fs.lstat(path)).kind !== 'directory') {
      await fs.unlink(path)
      return
    }
    for (const entry of await fs.readDirectory(path)) await removeTree(fs, join(path, entry))
    await fs.rmdir(path)
  } catch (error) {
    // Somebody else may be cleaning up as well.
    if (!isMissing(error)) throw error
  }
}
