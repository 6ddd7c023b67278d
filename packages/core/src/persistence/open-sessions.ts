/** The sessions that this process writes, by id, from their opening to the release of their lock. */
import { LiveSession, type LiveSessionParts } from '../session/live-session.ts'
import type { Settings } from '../session/settings.ts'
import type { StorageReader } from '../storage/session-storage.ts'

export class OpenSessions {
  readonly #settings: Settings
  readonly #openReader: (id: string) => Promise<StorageReader>
  readonly #sessions: Map<string, LiveSession> = new Map()

  constructor(settings: Settings, openReader: (id: string) => Promise<StorageReader>) {
    this.#settings = settings
    this.#openReader = openReader
  }

  get(id: string): LiveSession | undefined {
    return this.#sessions.get(id)
  }

  /** A session over a writer that the storage just gave, known here until it is closed or abandoned. */
  open(parts: Omit<LiveSessionParts, 'settings' | 'openReader' | 'released'>): LiveSession {
    const { id } = parts.writer.header
    const session: LiveSession = new LiveSession({
      ...parts,
      settings: this.#settings,
      openReader: () => this.#openReader(id),
      released: () => this.#sessions.delete(id),
    })
    this.#sessions.set(id, session)
    return session
  }

  /** Ends all of them, also after one failed; then rejects with the first failure. */
  async endAll(end: (session: LiveSession) => Promise<void>): Promise<void> {
    const results = await Promise.allSettled([...this.#sessions.values()].map(end))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}
