/** The one implementation of `SessionPersistence` above the storage port. */
import { SessionError, withSessionId } from '../errors.ts'
import type { AnySessionEvent, EventInput } from '../event/event.ts'
import { headReceipt } from '../event/event-json.ts'
import type { UpgradeStep } from '../event/format-version.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import { checkHeader, type SessionHeader } from '../event/header.ts'
import { checkSessionId } from '../event/session-id.ts'
import { shownName } from '../event/shown-text.ts'
import { LogFold } from '../projection/log-fold.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { PersistenceOptions } from '../session/persistence-options.ts'
import { type ReadSource, readArguments, readEventPages, readEvents } from '../session/read-events.ts'
import type { ReadOptions, Session } from '../session/session.ts'
import { type Settings, settingsOf } from '../session/settings.ts'
import type { BackendDescription, SessionStorage, StorageReader, StorageWriter } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'
import { importedHeader, sourceOf, writeCopy } from './copy-log.ts'
import { type FollowOptions, followEvents } from './follow.ts'
import { childHeader, forkPosition, writeFork } from './fork.ts'
import { Lifetime } from './lifetime.ts'
import { listSessions } from './listing.ts'
import { OpenSessions } from './open-sessions.ts'
import {
  annotateArguments,
  annotationEvents,
  checkAppendable,
  copyArguments,
  createArguments,
  followArguments,
  forkArguments,
  headerId,
  listArguments,
  repairArguments,
  resumeArguments,
  sourceArguments,
  verifyArguments,
  viewArguments,
} from './operation-arguments.ts'
import { recoverLog } from './resume.ts'
import type {
  CreateOptions,
  ForkOptions,
  ListOptions,
  LogSource,
  RepairReport,
  ResumeOptions,
  SessionPage,
  SessionPersistence,
  SessionView,
  VerifyReport,
} from './session-persistence.ts'
import { type ViewOptions, viewOf } from './session-view.ts'
import { type VerifyOptions, verifyLog } from './verify.ts'

class StoredSessions implements SessionPersistence {
  readonly #storage: SessionStorage
  readonly #settings: Settings
  readonly #open: OpenSessions
  readonly #deleting: Map<string, Promise<boolean>> = new Map()
  readonly #lifetime: Lifetime = new Lifetime()

  constructor(storage: SessionStorage, settings: Settings) {
    this.#storage = storage
    this.#settings = settings
    this.#open = new OpenSessions(settings, (id) => this.#reader(id))
  }

  get description(): BackendDescription {
    return this.#storage.description
  }

  async create(options: CreateOptions = {}): Promise<Session> {
    this.#lifetime.assertOpen()
    const { id = this.#settings.newId(), messageFormat = 'plain', ...facts } = createArguments(options, 'options')
    const header = checkHeader({
      ...facts,
      version: this.#settings.upgrades.current,
      id,
      createdAt: this.#settings.clock(),
      messageFormat,
    })
    this.#checkFormat(header.messageFormat)
    return this.#guard(id, async () => {
      const writer = await this.#storage.openWriter(id, { kind: 'create', header })
      return this.#open.open({
        writer,
        fold: new LogFold(this.#settings.projections),
        recovery: undefined,
        head: headReceipt(undefined),
      })
    })
  }

  async resume(id: string, options: ResumeOptions = {}): Promise<Session> {
    const checked = resumeArguments(options, 'options')
    const { writer } = checked
    if (writer !== undefined) checkAppendable([{ type: 'session/resumed', data: { writer } }], this.#settings)
    return this.#guard(this.#id(id), () => this.#resume(id, checked))
  }

  async fork(id: string, options: ForkOptions = {}): Promise<Session> {
    this.#lifetime.assertOpen()
    const { id: childId = this.#settings.newId(), reason, labels, ...position } = forkArguments(options, 'options')
    return this.#guard(this.#id(id), async () => {
      await this.#open.get(id)?.flush()
      return withReader(this.#reader(id), async (reader) => {
        const at = await forkPosition(reader, this.#settings, position)
        const parent = this.#settings.upgrades.header(reader.header)
        const header = checkHeader(childHeader(parent, this.#settings, { id: childId, at, labels }))
        const writer = await this.#storage.openWriter(childId, { kind: 'create', header, staged: true })
        return this.#releasingOnError(writer, async () => {
          const fork = { parent: id, at, ...(reason === undefined ? {} : { reason }) }
          const forked = await writeFork(reader, writer, this.#settings, fork)
          return this.#open.open({ writer, fold: forked.fold, recovery: undefined, head: forked.head })
        })
      })
    })
  }

  async inspect(id: string, options: ViewOptions = {}): Promise<SessionView> {
    const checked = viewArguments(options, 'options')
    const { at } = checked
    return this.#guard(this.#id(id), () =>
      withReader(this.#reader(id), async (reader) => {
        if (at !== undefined && at >= reader.tail.nextSeq) {
          throw new SessionError('INVALID_ARGUMENT', `at must be a stored seq, 0 to ${reader.tail.nextSeq - 1}`)
        }
        return viewOf(reader, () => this.#reader(id), this.#settings, checked)
      }),
    )
  }

  read(id: string, options: ReadOptions = {}): AsyncIterable<AnySessionEvent> {
    return readEvents(this.#stored(id), this.#whileOpen(options))
  }

  readPages(id: string, options: ReadOptions = {}): AsyncIterable<readonly AnySessionEvent[]> {
    return readEventPages(this.#stored(id), this.#whileOpen(options))
  }

  follow(id: string, options: FollowOptions = {}): AsyncIterable<AnySessionEvent> {
    this.#lifetime.assertOpen()
    checkSessionId(id)
    const checked = followArguments(options, 'options')
    const signal = this.#lifetime.signal(checked.signal)
    return followEvents(this.#storage, this.#settings, id, { ...checked, signal })
  }

  async list(options: ListOptions = {}): Promise<SessionPage> {
    this.#lifetime.assertOpen()
    const checked = listArguments(options, 'options')
    return this.#lifetime.run(() => listSessions(this.#storage, this.#settings, checked))
  }

  async annotate(
    id: string,
    annotation: { readonly title?: string; readonly labels?: { readonly [name: string]: string } },
  ): Promise<HeadReceipt> {
    const events = annotationEvents(annotateArguments(annotation, 'the annotation'))
    checkAppendable(events, this.#settings)
    return this.#guard(this.#id(id), async () => {
      const own = this.#open.get(id)
      if (own !== undefined) return appendAndFlush(own, events)
      const session = await this.#resume(id, { openTurn: 'keep', preserveUnknown: true }, 'quietly')
      try {
        const head = await appendAndFlush(session, events)
        // Nobody hears here of events that are missing: a close would replace the summary, the only one that tells of them.
        if (session.recovery?.missing === undefined) await session.close()
        else await session.abandon()
        return head
      } catch (error) {
        await session.abandon()
        throw error
      }
    })
  }

  async verify(id: string, options: VerifyOptions = {}): Promise<VerifyReport> {
    const checked = verifyArguments(options, 'options')
    return this.#guard(this.#id(id), () => verifyLog(this.#storage, this.#settings, id, checked))
  }

  async repair(
    id: string,
    options: { readonly dryRun?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<RepairReport> {
    const { dryRun = true, signal } = repairArguments(options, 'options')
    return this.#guard(this.#id(id), async () => {
      if (this.#storage.repair === undefined) {
        throw new SessionError('NOT_SUPPORTED', `the ${this.description.name} backend has no repair`)
      }
      const messageFormats = this.#settings.formats
      const abort = signal === undefined ? {} : { signal }
      const report = await this.#storage.repair(id, { dryRun, messageFormats, ...abort })
      return { id, ...report }
    })
  }

  async delete(id: string): Promise<boolean> {
    return this.#guard(this.#id(id), () => this.#delete(id))
  }

  async importLog(
    source: LogSource,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly id: string; readonly events: number; readonly head: HeadReceipt }> {
    const { header: given, ...log } = sourceArguments(source, 'source')
    const { signal } = copyArguments(options, 'options')
    return this.#guard(this.#id(headerId(given, 'source.header').id), async () => {
      const original = checkHeader(given)
      const header = importedHeader(original, this.#settings)
      const { id } = header
      const writer = await this.#storage.openWriter(id, { kind: 'create', header, staged: true })
      try {
        return { id, ...(await writeCopy({ header: original, ...log }, writer, this.#settings, signal)) }
      } finally {
        await writer.close()
      }
    })
  }

  async exportLog(id: string, options: { readonly signal?: AbortSignal } = {}): Promise<LogSource> {
    const { signal } = copyArguments(options, 'options')
    return this.#guard(this.#id(id), () => sourceOf(() => this.#reader(id), this.#settings, signal))
  }

  async close(): Promise<void> {
    await this.#lifetime.end(async () => {
      await this.#open.endAll((session) => session.close())
      await this.#storage.close()
    }, false)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime.end(async () => {
      try {
        await this.#open.endAll((session) => session[Symbol.asyncDispose]())
      } finally {
        await this.#storage.close()
      }
    }, true)
  }

  async #resume(id: string, options: ResumeOptions, quietly?: 'quietly'): Promise<LiveSession> {
    const writer = await this.#storage.openWriter(id, { kind: 'resume' })
    return this.#releasingOnError(writer, async () => {
      this.#settings.upgrades.check(writer.header.version)
      const signal = this.#lifetime.signal(options.signal)
      const compareKnown = quietly !== undefined
      const log = await recoverLog(writer, this.#settings, { ...options, signal }, compareKnown)
      return this.#open.open({
        writer,
        fold: log.fold,
        recovery: log.recovery,
        head: log.head,
        partial: log.partial,
        snapshotSeq: log.snapshotSeq,
        ...(quietly ? {} : { resumed: options.writer === undefined ? {} : { writer: options.writer } }),
      })
    })
  }

  /** Two deletes of one id at a time are one: the second must not find the lock of the first and take it for a writer. */
  #delete(id: string): Promise<boolean> {
    const running = this.#deleting.get(id)
    if (running !== undefined) return running
    const deleting = this.#storage.delete(id).finally(() => this.#deleting.delete(id))
    this.#deleting.set(id, deleting)
    return deleting
  }

  #stored(id: unknown): ReadSource {
    const checked = this.#id(id)
    return { id: checked, upgrades: this.#settings.upgrades, openReader: () => this.#reader(checked) }
  }

  /** A read ends with CLOSED when closing begins. */
  #whileOpen(options: ReadOptions): ReadOptions {
    const checked = readArguments(options, 'options')
    return { ...checked, signal: this.#lifetime.signal(checked.signal) }
  }

  #reader(id: string): Promise<StorageReader> {
    this.#lifetime.assertOpen()
    return this.#storage.openReader(id)
  }

  async #releasingOnError<T>(writer: StorageWriter, use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      await writer.close()
      throw error
    }
  }

  /** Everything that a close waits for goes through here. */
  async #guard<T>(id: string, run: () => Promise<T>): Promise<T> {
    try {
      return await this.#lifetime.run(run)
    } catch (error) {
      throw withSessionId(error, id)
    }
  }

  #id(id: unknown): string {
    this.#lifetime.assertOpen()
    return checkSessionId(id)
  }

  #checkFormat(name: SessionHeader['messageFormat']): void {
    if (this.#settings.formats.has(name)) return
    const known = [...this.#settings.formats.keys()].join(', ')
    throw new SessionError('NOT_SUPPORTED', `message format ${shownName(name)} is not one of: ${known}`)
  }
}

function appendAndFlush(session: Session, events: readonly EventInput[]): Promise<HeadReceipt> {
  session.appendAll(events)
  return session.flush()
}

/**
 * A whole `SessionPersistence` over a storage port. `steps` upgrade logs of formats older than this program's.
 * INVALID_ARGUMENT for options that are not of the documented form.
 */
export function createPersistence(
  storage: SessionStorage,
  options: PersistenceOptions = {},
  steps: readonly UpgradeStep[] = [],
): SessionPersistence {
  return new StoredSessions(storage, settingsOf(options, steps))
}
