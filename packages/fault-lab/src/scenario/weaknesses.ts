/**
 * Faults of our own, planted between a backend and the model: what each would do if its code forgot one step. The
 * suites must see every one of them.
 */
import type { FileSystem, OpenFile, OpenMode } from '@session-persistence/file-log'
import type { Weakness } from './stage.ts'

type FileChange = (file: OpenFile, how: OpenMode) => Partial<OpenFile>

/** The same file system with other answers to some calls; files of it are changed alike. */
export function changed(calls: Partial<FileSystem>, change: FileChange = () => ({})): Weakness {
  return (fileSystem) => {
    const copy: FileSystem = {
      syncMode: fileSystem.syncMode,
      open: async (path, how, mode) => {
        const file = await fileSystem.open(path, how, mode)
        const same: OpenFile = {
          stat: () => file.stat(),
          read: (into, position) => file.read(into, position),
          write: (bytes, position) => file.write(bytes, position),
          append: (bytes) => file.append(bytes),
          truncate: (length) => file.truncate(length),
          sync: () => file.sync(),
          chmod: (bits) => file.chmod(bits),
          tryLock: () => file.tryLock(),
          close: () => file.close(),
        }
        return { ...same, ...change(file, how) }
      },
      lstat: (path) => fileSystem.lstat(path),
      realpath: (path) => fileSystem.realpath(path),
      readDirectory: (path) => fileSystem.readDirectory(path),
      mkdir: (path, mode) => fileSystem.mkdir(path, mode),
      chmod: (path, mode) => fileSystem.chmod(path, mode),
      rename: (from, to) => fileSystem.rename(from, to),
      unlink: (path) => fileSystem.unlink(path),
      rmdir: (path) => fileSystem.rmdir(path),
      syncDirectory: (path) => fileSystem.syncDirectory(path),
      watch: (path, onChange) => fileSystem.watch(path, onChange),
      lstatSync: (path) => fileSystem.lstatSync(path),
      readDirectorySync: (path) => fileSystem.readDirectorySync(path),
      openSync: (path) => fileSystem.openSync(path),
      fstatSync: (descriptor) => fileSystem.fstatSync(descriptor),
      readSync: (descriptor, into, position) => fileSystem.readSync(descriptor, into, position),
      closeSync: (descriptor) => fileSystem.closeSync(descriptor),
    }
    return { ...copy, ...calls }
  }
}

/** An append that is written, but not synced. */
function unsyncedAppends(fileSystem: FileSystem): FileSystem {
  const open: FileSystem['open'] = (path, how, mode) =>
    fileSystem.open(path, how === 'append-durable' ? 'append' : how, mode)
  return changed({ open })(fileSystem)
}

/** An append that syncs by itself, and once more when that fails. */
function repeatedSyncs(fileSystem: FileSystem): FileSystem {
  const unsynced = unsyncedAppends(fileSystem)
  return changed({}, (file, how) => {
    if (how !== 'append-durable') return {}
    return {
      append: async (bytes) => {
        const count = await file.append(bytes)
        await file.sync().catch(() => file.sync())
        return count
      },
    }
  })(unsynced)
}

const ignoring = async (): Promise<void> => {}

/** Each by the name of the step that is left out. */
export const WEAKNESSES: { readonly [name: string]: Weakness } = {
  'drop the sync of an append': unsyncedAppends,
  'drop fsync': changed({}, () => ({ sync: ignoring })),
  'drop the directory fsync': changed({ syncDirectory: ignoring }),
  'acknowledge before the write': changed({}, (file) => ({
    append: async (bytes) => {
      const copy = Buffer.from(bytes)
      queueMicrotask(() => setImmediate(() => void file.append(copy).catch(() => {})))
      return bytes.length
    },
  })),
  'do not cut after a failed write': changed({}, () => ({ truncate: ignoring })),
  'do not write the found tail again': changed({}, (_, how) =>
    how === 'patch' ? { write: async (bytes) => bytes.length } : {},
  ),
  'believe a repeated sync': changed({}, (file) => ({
    append: async (bytes) => {
      try {
        return await file.append(bytes)
      } catch {
        await file.sync()
        return bytes.length
      }
    },
  })),
  'rename over the log before it is synced': renameFirst,
  'take a short write for a whole one': changed({}, (file) => ({
    append: async (bytes) => {
      await file.append(bytes.subarray(0, bytes.length >> 1))
      return bytes.length
    },
  })),
}

/** The same, seen by other suites than the modelled power cuts. */
export const OTHER_WEAKNESSES: { readonly [name: string]: Weakness } = {
  'take a lock that excludes nobody': changed({}, () => ({ tryLock: () => true })),
  'repeat a sync that failed': repeatedSyncs,
  'take a full disk for a whole write': changed({}, (file) => ({
    append: async (bytes) => {
      await file.append(bytes).catch(() => {})
      return bytes.length
    },
  })),
  'report a failing disk as a missing session': (fileSystem) =>
    changed({
      open: async (path, how, mode) => {
        try {
          return await fileSystem.open(path, how, mode)
        } catch (error) {
          throw how === 'read' ? Object.assign(new Error('ENOENT'), { code: 'ENOENT', cause: error }) : error
        }
      },
    })(fileSystem),
}

/** Puts a new file in place first and syncs it afterwards, in the background. */
function renameFirst(fileSystem: FileSystem): FileSystem {
  return changed({}, (file, how) => (how === 'new' ? { sync: ignoring } : { sync: () => file.sync() }))(fileSystem)
}
