/** The disposable documents beside a log: whole or absent, never synced, since losing one costs time only. */
import type { FileSystem } from './file-system.ts'
import { attempt, ioError, isExhaustion, isMissing } from './io-error.ts'
import { createPrivateFile } from './private-path.ts'
import { readBytes } from './read-bytes.ts'
import { writeFully } from './write-bytes.ts'

/** A projection state larger than this is not worth loading; and what is not ours must not fill memory. */
const DOCUMENT_BYTES_MAX = 64 * 1024 * 1024

/**
 * The text, or undefined when there is none that could be used: what this user may not read, or the disk cannot, is as good
 * as absent. Rejects only where the process is short of handles or memory, which is not about the document.
 */
export async function readDerived(fs: FileSystem, path: string): Promise<string | undefined> {
  try {
    if ((await fs.lstat(path)).kind !== 'file') return undefined
    const file = await fs.open(path, 'read')
    try {
      const { kind, size } = await file.stat()
      if (kind !== 'file' || size > DOCUMENT_BYTES_MAX) return undefined
      return (await readBytes(file, path, 0, size)).toString('utf8')
    } finally {
      await file.close().catch(() => {})
    }
  } catch (error) {
    if (isExhaustion(error)) throw ioError(error, 'read a derived document', path)
    return undefined
  }
}

/** Before the log changes under it: what is disposable may be gone too early, never too late. True when it was there. */
export async function removeDerived(fs: FileSystem, path: string): Promise<boolean> {
  try {
    // Nothing else is ever read as one.
    if ((await fs.lstat(path)).kind !== 'file') return false
    await fs.unlink(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw ioError(error, 'remove a derived document', path)
  }
}

/** Replaces the document; `temporary` must be a new name in the same directory. */
export async function writeDerived(fs: FileSystem, path: string, temporary: string, text: string): Promise<void> {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length > DOCUMENT_BYTES_MAX) return
  await attempt('write a derived document', path, async () => {
    const { file } = await createPrivateFile(fs, temporary)
    try {
      await writeFully(file, bytes, 0)
    } catch (error) {
      await file.close().catch(() => {})
      await fs.unlink(temporary).catch(() => {})
      throw error
    }
    await file.close()
    await fs.rename(temporary, path)
  })
}
