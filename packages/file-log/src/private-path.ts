/** Creates directories and files that only their owner may read, whatever the umask (contract family SEC). */
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'
import { ioError, systemErrorName } from './io-error.ts'
import { DIRECTORY_MODE, FILE_MODE, notPlain } from './layout.ts'

/**
 * Makes a directory that must not exist yet (EEXIST is passed on). `place`: a part of a store is its owner's, whoever makes
 * it; a new store is its maker's.
 */
export async function makePrivateDirectory(fs: FileSystem, path: string, place: 'in-store' | 'store'): Promise<void> {
  await fs.mkdir(path, DIRECTORY_MODE, place === 'in-store')
  // A umask can only take bits away; an owner without its own bits could not go on.
  if (fs.lstatSync(path).mode !== DIRECTORY_MODE) await fs.chmod(path, DIRECTORY_MODE)
}

/** The same for a part of a store that may exist; then its permissions are left as they are. True when it was made. */
export async function ensurePrivateDirectory(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await makePrivateDirectory(fs, path, 'in-store')
    return true
  } catch (error) {
    if (systemErrorName(error) !== 'EEXIST') throw ioError(error, 'make a directory', path)
  }
  const found = await fs.lstat(path).catch((error: unknown) => {
    throw ioError(error, 'look at a directory', path)
  })
  if (found.kind !== 'directory') throw notPlain(path, 'directory', found.kind)
  return false
}

export interface OpenedFile {
  readonly file: OpenFile
  readonly stat: FileStat
}

/** Creates a file that must not exist yet (EEXIST is passed on). */
export async function createPrivateFile(fs: FileSystem, path: string): Promise<OpenedFile> {
  const file = await fs.open(path, 'new', FILE_MODE)
  try {
    const stat = fs.lstatSync(path)
    await repairMode(file, stat)
    return { file, stat }
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
}

/** Opens a file, or creates it; refuses anything but a plain one. */
export async function openPrivateFile(fs: FileSystem, path: string): Promise<OpenedFile> {
  const file = await fs.open(path, 'lock', FILE_MODE)
  try {
    const stat = await file.stat()
    if (stat.kind !== 'file') throw notPlain(path, 'file', stat.kind)
    await repairMode(file, stat)
    return { file, stat }
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
}

async function repairMode(file: OpenFile, { mode }: FileStat): Promise<void> {
  if (mode !== FILE_MODE) await file.chmod(FILE_MODE)
}
