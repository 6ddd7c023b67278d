/** The three backends on the real file system, below one directory. */
import { join } from 'node:path'
import type { SessionStorage } from '@session-persistence/core'
import { jsonlStorage } from '@session-persistence/jsonl'
import { jsonlZstdStorage } from '@session-persistence/jsonl-zstd'
import { sqliteStorage } from '@session-persistence/sqlite'

export const REAL_BACKENDS = ['jsonl', 'jsonl-zstd', 'sqlite'] as const

export type RealBackend = (typeof REAL_BACKENDS)[number]

/** Everything that is stored stands in `<directory>/root`. */
export function openReal(backend: RealBackend, directory: string): SessionStorage {
  const root = join(directory, 'root')
  switch (backend) {
    case 'jsonl':
      return jsonlStorage({ root })
    case 'jsonl-zstd':
      return jsonlZstdStorage({ root })
    case 'sqlite':
      return sqliteStorage({ file: join(root, 'sessions.db') })
  }
}
