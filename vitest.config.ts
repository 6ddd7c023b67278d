import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'

const scale = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)
if (!(scale > 0)) throw new Error('SESSION_PERSISTENCE_TEST_SCALE must be a positive number')

/** Where the driver of the SQLite backend neither downloads nor compiles; `driver-present.test.ts` says so. */
function sqliteIsMissing(): boolean {
  try {
    const Database = createRequire(new URL('packages/sqlite/package.json', import.meta.url))('better-sqlite3')
    new Database(':memory:').close()
    return false
  } catch {
    return true
  }
}

const needSqlite = ['packages/sqlite/test/!(driver-present).test.ts']

export default defineConfig({
  // Packages import each other's source, so that no test needs a build of its neighbours. Only `ssr.resolve` reaches
  // modules loaded in a forked worker; `resolve.conditions` does not. The other three are vite's own defaults.
  ssr: { resolve: { conditions: ['@session-persistence/source', 'module', 'node', 'development|production'] } },
  test: {
    // A process for each file: writer locks belong to a process, and native addons do not like worker threads.
    pool: 'forks',
    include: ['{packages/*,bench,scripts}/test/**/*.test.ts'],
    // Generous, because it only has to end what hangs; a larger scale does more in each test.
    testTimeout: 120_000 * Math.max(1, scale),
    hookTimeout: 120_000 * Math.max(1, scale),
    exclude: ['**/node_modules/**', '**/dist/**', ...(sqliteIsMissing() ? needSqlite : [])],
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
})
