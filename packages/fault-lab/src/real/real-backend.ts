/** The three backends on the real file system, below one directory. */
import { join } from 'node:path'
import type { SessionStorage } from '@session-persistence/core'
import { nodeFileSystem } from '@session-persistence/file-log'
import { jsonlStorage } from '@session-persistence/jsonl'
import { jsonlZstdStorage } from '@session-persistence/jsonl-zstd'
import { sqliteAvailability, sqliteStorage } from '@session-persistence/sqlite'
import { sessionsIn } from '../scenario/sessions-directory.ts'
import type { Weakness } from '../scenario/stage.ts'

export type RealBackend = 'jsonl' | 'jsonl-zstd' | 'sqlite'

/** Those that this machine can run: the driver of SQLite needs a prebuilt binary or a compiler. */
export const REAL_BACKENDS: readonly RealBackend[] = sqliteAvailability().available
  ? ['jsonl', 'jsonl-zstd', 'sqlite']
  : ['jsonl', 'jsonl-zstd']

/** Everything that is stored stands in `sessionsIn(directory)`. */
export function openReal(backend: RealBackend, directory: string, weaken: Weakness = (it) => it): SessionStorage {
  const fileSystem = weaken(nodeFileSystem)
  const root = sessionsIn(directory)
  switch (backend) {
    case 'jsonl':
      return jsonlStorage({ root, fileSystem })
    case 'jsonl-zstd':
      return jsonlZstdStorage({ root, fileSystem })
    case 'sqlite':
      return sqliteStorage({ file: join(root, 'sessions.db') })
  }
}
