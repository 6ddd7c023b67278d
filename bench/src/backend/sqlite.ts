/** One SQLite database for all sessions. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { openSqlite, sqliteStorage } from 'session-persistence'
import type { BenchBackend } from './bench-backend.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { whyUnavailable } from './why-unavailable.ts'

export const harness: BenchBackend = {
  name: 'sqlite',
  column: 'sqlite',
  packs: true,
  module: import.meta.url,
  unavailable: () => whyUnavailable('sqlite'),
  openAt: (file, given) => openSqlite({ ...given, file }),
  async createMedium() {
    const directory = await temporaryDirectory()
    const file = path.join(directory, 'sessions.db')
    return {
      location: file,
      open: (given) => openSqlite({ ...given, file }),
      storage: () => sqliteStorage({ file }),
      destroy: () => fs.rm(directory, { recursive: true, force: true }),
    }
  },
}
