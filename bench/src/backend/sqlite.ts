/** One SQLite database for all sessions. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { backupSqlite, compactSqlite, openSqlite, sqliteStorage } from 'session-persistence'
import type { BenchBackend, BenchMedium } from './bench-backend.ts'
import { builtModule } from './built-module.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { whyUnavailable } from './why-unavailable.ts'

async function medium(original?: string): Promise<BenchMedium> {
  const directory = temporaryDirectory()
  const file = path.join(directory, 'sessions.db')
  if (original !== undefined) await backupSqlite({ file: original, to: file })
  return {
    location: file,
    open: (given) => openSqlite({ ...given, file }),
    storage: () => sqliteStorage({ file }),
    seal: () => compactSqlite({ file }),
    copy: () => medium(file),
    destroy: () => fs.rm(directory, { recursive: true, force: true }),
  }
}

export const harness: BenchBackend = {
  name: 'sqlite',
  column: 'sqlite',
  packs: true,
  module: builtModule('sqlite'),
  unavailable: () => whyUnavailable('sqlite'),
  openAt: (file, given) => openSqlite({ ...given, file }),
  createMedium: () => medium(),
}
