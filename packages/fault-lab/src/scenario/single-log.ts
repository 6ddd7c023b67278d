/** A root with one session, whose log is given byte by byte: for damage of every kind. */
import { Disk, type Inode, ROOT } from '@session-persistence/conformance/crash-states'
import type { AnySessionEvent } from '@session-persistence/core'
import { encodeSessionName } from '@session-persistence/file-log'
import { ModelFileSystem } from '../model/model-file-system.ts'
import type { FileBackend, FileStorage } from './file-backend.ts'
import { sampleHeader } from './sample-events.ts'
import { SESSIONS_DIRECTORY, sessionsIn } from './sessions-directory.ts'
import { newMount } from './verify-image.ts'

/** The id of the session. */
export const SINGLE_ID = 'session'

export class SingleLog {
  readonly storage: FileStorage
  readonly #disk: Disk
  readonly #log: Inode

  constructor(backend: FileBackend, log: Buffer = Buffer.alloc(0)) {
    const disk = new Disk()
    const root = disk.addDurable(ROOT, SESSIONS_DIRECTORY, undefined)
    const directory = disk.addDurable(root, encodeSessionName(SINGLE_ID), undefined)
    this.#log = disk.addDurable(directory, backend.logName, log)
    this.#disk = disk
    const mount = newMount()
    this.storage = backend.open(new ModelFileSystem({ mount, disk }), sessionsIn(mount))
  }

  /** Another log in the same place. Shared, never changed. */
  set(log: Buffer): void {
    const node = this.#disk.file(this.#log)
    node.bytes = log
    node.durable = log
    node.revision++
  }
}

/** The log that a backend makes of these batches. */
export async function logOf(backend: FileBackend, batches: readonly (readonly AnySessionEvent[])[]): Promise<Buffer> {
  const disk = new Disk()
  const mount = newMount()
  const fileSystem = new ModelFileSystem({ mount, disk })
  const root = sessionsIn(mount)
  const storage = backend.open(fileSystem, root)
  const writer = await storage.openWriter(SINGLE_ID, { kind: 'create', header: sampleHeader(SINGLE_ID) })
  for (const batch of batches) await writer.append(batch)
  await writer.close()
  const file = await fileSystem.open(`${root}/${encodeSessionName(SINGLE_ID)}/${backend.logName}`, 'read')
  const log = Buffer.alloc((await file.stat()).size)
  await file.read(log, 0)
  return log
}
