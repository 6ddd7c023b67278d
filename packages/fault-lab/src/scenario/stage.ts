/** Where a scenario plays: a modelled disk, processes that come and go on it, and what each session is promised. */
import { Disk, type Random, Recording } from '@session-persistence/conformance/crash-states'
import type { AnySessionEvent, SessionHeader, StorageWriter } from '@session-persistence/core'
import { encodeSessionName, type FileSystem, type OpenFile, type OpenMode } from '@session-persistence/file-log'
import { ModelFileSystem } from '../model/model-file-system.ts'
import { type Expectation, nothing } from './expectation.ts'
import type { FileBackend, FileStorage } from './file-backend.ts'
import { sampleHeader } from './sample-events.ts'
import { sessionsIn } from './sessions-directory.ts'
import { newMount } from './verify-image.ts'

/** Stands between a backend and the model: the identity, or a weakness that a control plants. */
export type Weakness = (fileSystem: FileSystem) => FileSystem

export interface StageOptions {
  readonly weaken?: Weakness
  readonly id?: string
  /** Which calls fail, in every process. */
  readonly decide?: ModelFileSystem['decide']
}

export class Stage {
  readonly disk: Disk = new Disk()
  readonly recording: Recording<Expectation> = new Recording<Expectation>()
  readonly random: Random
  readonly backend: FileBackend
  readonly id: string
  /** Of the process that was started last. */
  fileSystem: ModelFileSystem | undefined
  readonly #weaken: Weakness
  readonly #decide: ModelFileSystem['decide'] | undefined
  #acknowledged: readonly AnySessionEvent[] = []
  #submitted: readonly AnySessionEvent[] = []
  #stored = false

  constructor(
    backend: FileBackend,
    random: Random,
    { weaken = (it) => it, id = 'session', decide }: StageOptions = {},
  ) {
    this.backend = backend
    this.random = random
    this.id = id
    this.#weaken = weaken
    this.#decide = decide
  }

  /** A storage in a new process. Whatever process was there before has ended. */
  start(): FileStorage {
    const mount = newMount()
    const record = this.recording.add.bind(this.recording)
    const decide = this.#decide
    this.fileSystem = new ModelFileSystem({
      mount,
      disk: this.disk,
      record,
      ...(decide === undefined ? {} : { decide }),
    })
    return this.backend.open(this.#weaken(this.fileSystem), sessionsIn(mount))
  }

  get initially(): Expectation {
    return nothing(this.id)
  }

  get header(): SessionHeader {
    return sampleHeader(this.id)
  }

  /** What a reader must find from now on. */
  get acknowledged(): readonly AnySessionEvent[] {
    return this.#acknowledged
  }

  promise(expected: Omit<Expectation, 'id'>): void {
    this.recording.mark({ ...expected, id: this.id })
  }

  /** From now on the session holds exactly these events. */
  acknowledge(events: readonly AnySessionEvent[]): void {
    this.#acknowledged = events
    this.#submitted = events
    this.#stored = true
    this.promise({ histories: [{ events, atLeast: events.length }], absent: 'forbidden' })
  }

  /** From now on there is no session. */
  acknowledgeAbsence(): void {
    this.#acknowledged = []
    this.#stored = false
    this.promise({ histories: [], absent: 'required' })
  }

  /** Runs a step that adds `events` to what is stored, or not. */
  async adding<T>(events: readonly AnySessionEvent[], step: () => Promise<T>): Promise<T> {
    const before = this.#acknowledged
    const after = [...before, ...events]
    this.#submitted = after
    this.promise({
      histories: [{ events: after, atLeast: before.length }],
      absent: this.#stored ? 'forbidden' : 'allowed',
    })
    const result = await step()
    this.acknowledge(after)
    return result
  }

  append(writer: StorageWriter, events: readonly AnySessionEvent[]): Promise<void> {
    return this.adding(events, () => writer.append(events))
  }

  /** The log, opened by somebody whose calls never fail. */
  #openLog(how: OpenMode): Promise<OpenFile> {
    const mount = newMount()
    const record = this.recording.add.bind(this.recording)
    const path = `${sessionsIn(mount)}/${encodeSessionName(this.id)}/${this.backend.logName}`
    return new ModelFileSystem({ mount, disk: this.disk, record }).open(path, how)
  }

  /** The bytes of the log, as a program sees them. */
  async readLog(): Promise<Buffer> {
    const file = await this.#openLog('read')
    const bytes = Buffer.alloc((await file.stat()).size)
    await file.read(bytes, 0)
    await file.close()
    return bytes
  }

  /** Overwrites bytes of the log behind the backend's back. */
  async scribble(bytes: Buffer, offset: number): Promise<void> {
    const file = await this.#openLog('patch')
    await file.write(bytes, offset)
    await file.sync()
    await file.close()
  }

  /** Lets calls of the process that runs now fail. */
  failCalls(decide: ModelFileSystem['decide']): void {
    if (this.fileSystem !== undefined) this.fileSystem.decide = decide
  }

  /** A writer found the session after an append whose end nobody heard of: what it found is acknowledged now. */
  async recovered(writer: StorageWriter): Promise<void> {
    await writer.settle()
    const { nextSeq } = writer.tail
    const submitted = this.#submitted
    if (nextSeq < this.#acknowledged.length || nextSeq > submitted.length) {
      throw new Error(`${nextSeq} events were found, ${this.#acknowledged.length} to ${submitted.length} expected`)
    }
    this.acknowledge(submitted.slice(0, nextSeq))
  }
}
