/** The disposable documents beside a log: whole or absent, never synced, since losing one costs time only. */
import type { FileSystem, OpenFile } from './file-system.ts'
import { attempt, ioError, isMissing, systemErrorName } from './io-error.ts'
import { createPrivateFile } from './private-path.ts'
import { readBytes } from './read-bytes.ts'
import { writeFully } from './write-bytes.ts'

/** A projection state larger than this is not worth loading; and what is not ours must not fill memory. */
const DOCUMENT_BYTES_MAX = 64 * 1024 * 1024

/** The text, or undefined when there is none that could be used. */
export async function readDerived(fs: FileSystem, path: string): Promise<string | undefined> {
  let file: OpenFile
  try {
    if ((await fs.lstat(path)).kind !== 'file') return undefined
    file = await fs.open(path, 'read')
  } catch (error) {
    if (isMissing(error) || systemErrorName(error) === 'ELOOP') return undefined
    throw ioError(error, 'read a derived document', path)
  }
  try {
    const stat = await attempt('read a derived document', path, () => file.stat())
    if (stat.kind !== 'file' || stat.size > DOCUMENT_BYTES_MAX) return undefined
    return (await readBytes(file, path, 0, stat.size)).toString('utf8')
  } finally {
    await file.close().catch(() => {})
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
