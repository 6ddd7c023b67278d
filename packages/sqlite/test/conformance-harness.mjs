// What the conformance kit needs to know of this backend. Plain JavaScript, so that the kit's worker processes, which
// run built code, can import it too.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { defineHarness } from '@session-persistence/conformance'
import { openSqlite } from '@session-persistence/sqlite'
import { storedRecords } from './parts/stored-records.mjs'

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = defineHarness({
  name: 'sqlite',
  module: import.meta.url,
  async createMedium() {
    const place = await mkdtemp(join(tmpdir(), 'session-persistence-conformance-'))
    // Below, not at, the temporary directory, so that escapes from the root would still land in it.
    const root = join(place, 'root')
    const file = join(root, 'sessions.db')
    return {
      location: root,
      open: (options) => openSqlite({ ...options, file }),
      files: () => filesBelow(root),
      isEngineFile: (path) => /-(?:wal|shm)$/.test(path),
      records: storedRecords(file),
      stampVersion: async (id, version) => stampVersion(file, id, version),
      destroy: () => rm(place, { recursive: true, force: true }),
    }
  },
  openAt: (root, options) => openSqlite({ ...options, file: join(root, 'sessions.db') }),
})

/** @param {string} root */
async function filesBelow(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

/**
 * Another version in a stored header, its checksum included.
 *
 * @param {string} file
 * @param {string} id
 * @param {number} version
 */
function stampVersion(file, id, version) {
  const Database = createRequire(import.meta.url)('better-sqlite3')
  const database = new Database(file)
  const [row] = database
    .prepare(
      "SELECT s.number, s.salt, h.header FROM session s JOIN header h ON h.session = s.number WHERE h.header ->> '$.id' = ?",
    )
    .all(id)
  const header = row.header.replace(/"version":\d+/, `"version":${version}`)
  database
    .prepare('UPDATE header SET header = ?, crc = ? WHERE session = ?')
    .run(header, crc32(header, row.salt), row.number)
  database.close()
}
