// Proves: opening refuses a location or options that are none with INVALID_ARGUMENT, alike for every backend, and makes nothing on the medium.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openJsonl } from '@session-persistence/jsonl'
import { openJsonlZstd } from '@session-persistence/jsonl-zstd'
import { openSqlite, sqliteAvailability } from '@session-persistence/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BACKENDS } from '../src/backends.ts'
import { openPersistence } from '../src/open-persistence.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hostile-options-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

// Where its driver cannot be installed, SQLite refuses everything with NOT_SUPPORTED before it looks at options.
const sqlite = sqliteAvailability().available
const backends = BACKENDS.filter(({ scheme }) => sqlite || scheme !== 'sqlite')

const NO_OBJECTS: readonly unknown[] = [null, 5, 'x', [], () => {}]
const invalid = { name: 'SessionError', code: 'INVALID_ARGUMENT' }

describe('openPersistence', () => {
  it.each([null, undefined, 5, {}, ['memory:'], Object('memory:'), Symbol('memory:'), ''])(
    'refuses the location %o',
    (location) => expect(openPersistence(location as never)).rejects.toMatchObject(invalid),
  )

  it.each(backends.map(({ scheme, place }) => [scheme, place] as const))(
    'refuses options of %s',
    async (scheme, place) => {
      const location = `${scheme}:${place === '' ? '' : join(directory, 'place')}`
      for (const options of NO_OBJECTS) {
        await expect(openPersistence(location, options as never)).rejects.toMatchObject(invalid)
      }
      for (const property of ['clock', 'newId', 'redact', 'onFailure', 'events', 'projections', 'messageFormats']) {
        await expect(openPersistence(location, { [property]: 5 } as never), property).rejects.toMatchObject(invalid)
      }
      expect(await readdir(directory)).toEqual([])
    },
  )
})

describe.each([
  ['openJsonl', openJsonl],
  ['openJsonlZstd', openJsonlZstd],
  ...(sqlite ? ([['openSqlite', openSqlite]] as const) : []),
] as const)('%s', (_name, open) => {
  it('refuses options that are none, and a place that is none', async () => {
    for (const options of NO_OBJECTS) await expect(open(options as never)).rejects.toMatchObject(invalid)
    for (const place of [null, undefined, 5, {}]) {
      await expect(open({ root: place, file: place } as never)).rejects.toMatchObject(invalid)
    }
  })
})
