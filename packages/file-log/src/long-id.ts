/** The ids of directories whose name cannot spell them out: stored in a file beside the log, believed only if it fits. */
import type { FileSystem } from './file-system.ts'
import { readIntoSync } from './read-bytes.ts'
import { encodeSessionName } from './session-name.ts'

/** UTF-8 bytes of the longest id (`LIMITS.idBytes`), with room to see that there is more. */
const BYTES_MAX = 4096

/** The id that the file at `path` gives for a directory of this name; undefined without a usable file. */
export function readLongId(fs: FileSystem, path: string, name: string): string | undefined {
  let descriptor: number
  try {
    descriptor = fs.openSync(path)
  } catch {
    return undefined
  }
  try {
    if (fs.fstatSync(descriptor).kind !== 'file') return undefined
    const bytes = Buffer.alloc(BYTES_MAX)
    const id = bytes.toString('utf8', 0, readIntoSync(fs, descriptor, bytes, 0))
    return encodeSessionName(id) === name ? id : undefined
  } catch {
    return undefined
  } finally {
    fs.closeSync(descriptor)
  }
}
