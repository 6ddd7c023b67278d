/** Keeps torn bytes beside the log before they are cut from it. */
import { type Quarantine, SessionError, type TornTail } from '@session-persistence/core'
import type { FileSystem, OpenFile } from './file-system.ts'
import { attempt, ioError, systemErrorName } from './io-error.ts'
import type { Layout } from './layout.ts'
import { createPrivateFile } from './private-path.ts'
import { readInto } from './read-bytes.ts'
import { writeFully } from './write-bytes.ts'

const STEP_BYTES = 1024 * 1024
/** More tears at one offset than this is no accident. */
const COUNT_MAX = 10_000

/**
 * Copies `[offset, offset + bytes)` of `log` to a new side file and makes that durable. Only then may the bytes be cut:
 * when this rejects, nothing is changed.
 */
export async function keepTorn(
  fs: FileSystem,
  layout: Layout,
  directory: string,
  log: OpenFile,
  torn: TornTail,
  durable: boolean,
): Promise<Quarantine> {
  const side = await createSide(fs, layout, directory, torn.offset)
  try {
    await copy(log, layout.log(directory), torn, side.file)
    if (durable) await attempt('sync torn bytes', side.path, () => side.file.sync())
    if (durable) await attempt('sync the session directory', directory, () => fs.syncDirectory(directory))
  } catch (error) {
    await side.file.close().catch(() => {})
    await fs.unlink(side.path).catch(() => {})
    throw error
  }
  // What was synced is kept, whatever closing says.
  await side.file.close().catch(() => {})
  return { offset: torn.offset, bytes: torn.bytes, keptAt: side.path }
}

async function createSide(
  fs: FileSystem,
  layout: Layout,
  directory: string,
  offset: number,
): Promise<{ readonly path: string; readonly file: OpenFile }> {
  for (let count = 1; count <= COUNT_MAX; count++) {
    const path = layout.torn(directory, offset, count)
    try {
      return { path, file: (await createPrivateFile(fs, path)).file }
    } catch (error) {
      if (systemErrorName(error) !== 'EEXIST') throw ioError(error, 'keep torn bytes', path)
    }
  }
  throw new SessionError('IO', `more than ${COUNT_MAX} torn tails at one offset`, { path: directory, offset })
}

async function copy(log: OpenFile, path: string, torn: TornTail, side: OpenFile): Promise<void> {
  const step = Buffer.allocUnsafe(Math.min(STEP_BYTES, torn.bytes))
  for (let done = 0; done < torn.bytes; ) {
    const part = step.subarray(0, Math.min(step.length, torn.bytes - done))
    const count = await readInto(log, path, part, torn.offset + done)
    if (count < part.length) {
      throw new SessionError('CONFLICT', 'the log shrank while its torn tail was kept', { path, offset: torn.offset })
    }
    await attempt('keep torn bytes', path, () => writeFully(side, part, done))
    done += count
  }
}
