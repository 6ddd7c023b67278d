/** The one implementation of `SessionPersistence` above the storage port. */
import { SessionError, withSessionId } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { headReceipt } from '../event/event-json.ts'
import type { UpgradeStep } from '../event/format-version.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import { checkHeader, type SessionHeader } from '../event/header.ts'
import { checkSessionId } from '../event/session-id.ts'
import { LogFold } from '../projection/log-fold.ts'
import { LiveSession, type LiveSessionParts } from '../session/live-session.ts'
import type { PersistenceOptions } from '../session/persistence-options.ts'
import { readEvents } from '../session/read-events.ts'
import type { ReadOptions, Session } from '../session/session.ts'
import { type Settings, settingsOf } from '../session/settings.ts'
import type { BackendDescription, SessionStorage, StorageReader, StorageWriter } from '../storage/session-storage.ts'
import { importedHeader, sourceOf, writeCopy } from './copy-log.ts'
import { type FollowOptions, followEvents } from './follow.ts'
import { childHeader, forkPosition, writeFork } from './fork.ts'
import { Lifetime } from './lifetime.ts'
import { listSessions } from './listing.ts'
import { checkResumeOptions, recoverLog } from './resume.ts'
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
  readonly #open: Map<string, LiveSession> = new Map()
  readonly #lifetime: Lifetime = new Lifetime()

  constructor(storage: SessionStorage, settings: Settings) {
    this.#storage = storage
    this.#settings = settings
  }

  get description(): BackendDescription {
    return this.#storage.description
  }

  async create(options: CreateOptions = {}): Promise<Session> {
    const id = this.#id(options.id ?? this.#settings.newId())
    const header = checkHeader({
      version: this.#settings.upgrades.current,
      id,
      createdAt: this.#settings.clock(),
      messageFormat: options.messageFormat ?? 'plain',
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.parent === undefined ? {} : { parent: options.parent }),
      ...(options.origin === undefined ? {} : { origin: options.origin }),
      ...(options.labels === undefined ? {} : { labels: options.labels }),
    })
    this.#checkFormat(header.messageFormat)
    return this.#guard(id, async () => {
      const writer = await this.#storage.openWriter(id, { kind: 'create', header })
      return this.#live({
        writer,
        fold: new LogFold(this.#settings.projections),
        recovery: undefined,
        head: headReceipt(undefined),
      })
    })
  }

  async resume(id: string, options: ResumeOptions = {}): Promise<Session> {
    checkResumeOptions(options)
    return this.#guard(this.#id(id), () => this.#resume(id, options, true))
  }

  async fork(id: string, options: ForkOptions = {}): Promise<Session> {
    const childId = this.#id(options.id ?? this.#settings.newId())
    return this.#guard(this.#id(id), async () => {
      await this.#open.get(id)?.flush()
      return this.#withReader(id, async (reader) => {
        const at = await forkPosition(reader, this.#settings, options)
        const parent = this.#settings.upgrades.header(reader.header)
        const header = checkHeader(childHeader(parent, this.#settings, { id: childId, at, labels: options.labels }))
        const writer = await this.#storage.openWriter(childId, { kind: 'create', header, staged: true })
        return this.#releasingOnError(writer, async () => {
          const { reason } = options
          const fork = { parent: id, at, ...(reason === undefined ? {} : { reason }) }
          const forked = await writeFork(reader, writer, this.#settings, fork)
          return this.#live({ writer, fold: forked.fold, recovery: undefined, head: forked.head })
        })
      })
    })
  }

  async inspect(id: string, options: ViewOptions = {}): Promise<SessionView> {
    const { at } = options
    return this.#guard(this.#id(id), () =>
      this.#withReader(id, async (reader) => {
        if (at !== undefined && !(Number.isSafeInteger(at) && at >= 0 && at < reader.tail.nextSeq)) {
          throw new SessionError('INVALID_ARGUMENT', `at must be a stored seq, 0 to ${reader.tail.nextSeq - 1}`)
        }
        return viewOf(reader, this.#settings, options)
      }),
    )
  }

  read(id: string, options: ReadOptions = {}): AsyncIterable<AnySessionEvent> {
    this.#lifetime.assertOpen()
    checkSessionId(id)
    const signal = this.#lifetime.signal(options.signal)
    return readEvents(() => this.#reader(id), this.#settings.upgrades, { ...options, signal }, id)
  }

  follow(id: string, options: FollowOptions = {}): AsyncIterable<AnySessionEvent> {
    this.#lifetime.assertOpen()
    checkSessionId(id)
    const signal = this.#lifetime.signal(options.signal)
    return followEvents(this.#storage, this.#settings, id, { ...options, signal })
  }

  async list(options: ListOptions = {}): Promise<SessionPage> {
    this.#lifetime.assertOpen()
    return this.#lifetime.run(() => listSessions(this.#storage, this.#settings, options))
  }

  async annotate(
    id: string,
    annotation: { readonly title?: string; readonly labels?: { readonly [name: string]: string } },
  ): Promise<HeadReceipt> {
    return this.#guard(this.#id(id), async () => {
      const own = this.#open.get(id)
      if (own !== undefined) return this.#annotate(own, annotation)
      const session = await this.#resume(id, { openTurn: 'keep', preserveUnknown: true }, false)
      try {
        const head = await this.#annotate(session, annotation)
        await session.close()
        return head
      } catch (error) {
        await session.abandon()
        throw error
      }
    })
  }

  async verify(id: string, options: VerifyOptions = {}): Promise<VerifyReport> {
    return this.#guard(this.#id(id), () => verifyLog(this.#storage, this.#settings, id, options))
  }

  async repair(
    id: string,
    options: { readonly dryRun?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<RepairReport> {
    return this.#guard(this.#id(id), async () => {
      if (this.#storage.repair === undefined) {
        throw new SessionError('NOT_SUPPORTED', `the ${this.description.name} backend has no repair`)
      }
      const { dryRun = true, signal } = options
      const report = await this.#storage.repair(id, { dryRun, ...(signal === undefined ? {} : { signal }) })
      return { id, ...report }
    })
  }

  async delete(id: string): Promise<boolean> {
    return this.#guard(this.#id(id), () => this.#storage.delete(id))
  }

  async importLog(
    source: LogSource,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly id: string; readonly events: number; readonly head: HeadReceipt }> {
    return this.#guard(this.#id(source?.header?.id), async () => {
      const header = importedHeader(source, this.#settings)
      const { id } = header
      const writer = await this.#storage.openWriter(id, { kind: 'create', header, staged: true })
      try {
        return { id, ...(await writeCopy(source, writer, this.#settings, options.signal)) }
      } finally {
        await writer.close()
      }
    })
  }

  async exportLog(id: string, options: { readonly signal?: AbortSignal } = {}): Promise<LogSource> {
    return this.#guard(this.#id(id), () => sourceOf(() => this.#reader(id), this.#settings, options.signal))
  }

  async close(): Promise<void> {
    await this.#lifetime.end(async () => {
      await this.#closeSessions((session) => session.close())
      await this.#storage.close()
    }, false)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime.end(async () => {
      try {
        await this.#closeSessions((session) => session[Symbol.asyncDispose]())
      } finally {
        await this.#storage.close()
      }
    }, true)
  }

  /** All of them, also after one failed; then the first failure. */
  async #closeSessions(close: (session: LiveSession) => Promise<void>): Promise<void> {
    const results = await Promise.allSettled([...this.#open.values()].map(close))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #resume(id: string, options: ResumeOptions, announce: boolean): Promise<LiveSession> {
    const writer = await this.#storage.openWriter(id, { kind: 'resume' })
    return this.#releasingOnError(writer, async () => {
      this.#settings.upgrades.check(writer.header.version)
      const signal = this.#lifetime.signal(options.signal)
      const log = await recoverLog(writer, this.#settings, { ...options, signal })
      return this.#live({
        writer,
        fold: log.fold,
        recovery: log.recovery,
        head: log.head,
        partial: log.partial,
        snapshotSeq: log.snapshotSeq,
        ...(announce ? { resumed: options.writer === undefined ? {} : { writer: options.writer } } : {}),
      })
    })
  }

  #annotate(
    session: Session,
    annotation: { readonly title?: string; readonly labels?: { readonly [name: string]: string } },
  ): Promise<HeadReceipt> {
    const { title, labels } = annotation
    if (title === undefined && labels === undefined) {
      throw new SessionError('INVALID_ARGUMENT', 'annotate needs a title or labels')
    }
    session.appendAll([
      ...(title === undefined ? [] : [{ type: 'session/title', data: { title } } as const]),
      ...(labels === undefined ? [] : [{ type: 'session/labels', data: { labels } } as const]),
    ])
    return session.flush()
  }

  #live(parts: Omit<LiveSessionParts, 'settings' | 'openReader' | 'released'>): LiveSession {
    const { id } = parts.writer.header
    const session: LiveSession = new LiveSession({
      ...parts,
      settings: this.#settings,
      openReader: () => this.#reader(id),
      released: () => this.#open.delete(id),
    })
    this.#open.set(id, session)
    return session
  }

  #reader(id: string): Promise<StorageReader> {
    this.#lifetime.assertOpen()
    return this.#storage.openReader(id)
  }

  async #withReader<T>(id: string, use: (reader: StorageReader) => Promise<T>): Promise<T> {
    const reader = await this.#reader(id)
    try {
      return await use(reader)
    } finally {
      await reader.close()
    }
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
    throw new SessionError('NOT_SUPPORTED', `message format ${JSON.stringify(name)} is not one of: ${known}`)
  }
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
