/**
 * What a backend has to offer so that its disk can be taken from under it: it is opened on a file-system port, not on
 * the machine's own. File backends do; what speaks to its medium by other ways cannot be tried so.
 */
import { Disk, type DiskImage, Recording } from '@session-persistence/conformance/crash-states'
import type { PersistenceOptions, SessionPersistence } from '@session-persistence/core'
import type { FileSystem } from '@session-persistence/file-log'
import { ModelFileSystem } from '../model/model-file-system.ts'
import { sessionsIn } from '../scenario/sessions-directory.ts'
import { newMount } from '../scenario/verify-image.ts'

/** Opens the backend with its root at `root`, a path of `fileSystem`. */
export type OpenOnPort = (
  fileSystem: FileSystem,
  root: string,
  options?: PersistenceOptions,
) => Promise<SessionPersistence>

/** A machine with a modelled disk: its processes come and go, its calls fail, its power is cut. */
export class Machine {
  readonly disk: Disk
  readonly #openOnPort: OpenOnPort

  constructor(openOnPort: OpenOnPort, image?: DiskImage) {
    this.#openOnPort = openOnPort
    this.disk = image?.toDisk() ?? new Disk()
  }

  /** A new process on it, whose operations are recorded, and whose calls `decide` may let fail. */
  async start(
    decide?: ModelFileSystem['decide'],
    recording: Recording<never> = new Recording<never>(),
  ): Promise<SessionPersistence> {
    const mount = newMount()
    const record = recording.add.bind(recording)
    const fileSystem = new ModelFileSystem({ mount, disk: this.disk, record, ...(decide && { decide }) })
    // No timer of ours may outlive the case: what is written is written by a flush.
    return await this.#openOnPort(fileSystem, sessionsIn(mount), {
      onFailure: () => {},
      clock: () => 1,
      writeWindowMs: 200,
    })
  }
}
