import { isSessionError, openMemory, type PersistenceOptions, type SessionPersistence } from '@session-persistence/core'
import { openJsonl } from '@session-persistence/jsonl'
import { chooseCodec, openJsonlZstd } from '@session-persistence/jsonl-zstd'
import { openSqlite, sqliteAvailability } from '@session-persistence/sqlite'

/** Whether a backend can be opened in this installation, and why not. */
export type BackendAvailability =
  | { readonly available: true }
  | { readonly available: false /** One sentence. */; readonly reason: string }

/** One kind of place where sessions can live. */
export interface Backend {
  /** What stands before the colon of a location. */
  readonly scheme: string
  /** What stands behind it, for messages and help; empty when nothing may. */
  readonly place: '' | 'DIRECTORY' | 'FILE'
  readonly description: string
  /** Never throws and opens nothing. */
  availability(): Promise<BackendAvailability>
  open(place: string, options: PersistenceOptions): Promise<SessionPersistence>
}

const present: BackendAvailability = Object.freeze({ available: true })

function zstdAvailability(): BackendAvailability {
  try {
    chooseCodec()
    return present
  } catch (error) {
    if (isSessionError(error, 'NOT_SUPPORTED')) return { available: false, reason: error.message }
    throw error
  }
}

/**
 * Every backend that {@link openPersistence} knows, the default one for files first. A backend with parts that some
 * machines cannot install stays in this list and says so in `availability`.
 */
export const BACKENDS: readonly Backend[] = Object.freeze([
  {
    scheme: 'jsonl',
    place: 'DIRECTORY',
    description: 'plain JSONL files, one directory a session, a checksum on every line',
    availability: async () => present,
    open: async (root: string, options: PersistenceOptions) => openJsonl({ ...options, root }),
  },
  {
    scheme: 'jsonl-zstd',
    place: 'DIRECTORY',
    description: 'the same lines in checksummed Zstandard frames: the smallest on disk',
    availability: async () => zstdAvailability(),
    open: async (root: string, options: PersistenceOptions) => openJsonlZstd({ ...options, root }),
  },
  {
    scheme: 'sqlite',
    place: 'FILE',
    description: 'one SQLite database for all sessions, open to plain SQL',
    availability: async () => sqliteAvailability(),
    open: async (file: string, options: PersistenceOptions) => openSqlite({ ...options, file }),
  },
  {
    scheme: 'memory',
    place: '',
    description: 'this process only: for tests and for sessions that nobody needs afterwards',
    availability: async () => present,
    open: async (_place: string, options: PersistenceOptions) => openMemory(options),
  },
])
