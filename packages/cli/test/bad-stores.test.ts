// Proves that what is no store of the kind that was named (a foreign database, a view posing as a table, a directory,
// zeros, sessions of another backend) is a typed error in one line from every command, and that nothing is written.
import { existsSync } from 'node:fs'
import { cp, mkdir, rename, truncate, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isPresent } from './support/file-backends.ts'
import { runCli } from './support/run-cli.ts'
import { contentOf, storeAt, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const inPlace = (...names: readonly string[]): string => join(place.directory, ...names)

/** Two at a time: none of them may write, so none can be in another's way. */
async function expectAllRefused(commands: readonly (readonly string[])[], codes: RegExp): Promise<void> {
  const before = await contentOf(place.directory)
  const waiting = [...commands]
  const work = async (): Promise<void> => {
    for (let command = waiting.shift(); command !== undefined; command = waiting.shift()) {
      const { code, stdout, stderr } = await runCli(command)
      expect(stderr, command.join(' ')).toMatch(/^session-persistence: [A-Z_]+: [^\n]+\n$/)
      expect(stderr, command.join(' ')).toMatch(codes)
      expect({ code, stdout }, command.join(' ')).toEqual({ code: 3, stdout: '' })
    }
  }
  await Promise.all([work(), work()])
  expect(await contentOf(place.directory)).toEqual(before)
}

const onStore = (location: string): readonly (readonly string[])[] => [
  ...[['list'], ['resume', 'talk-one'], ['delete', 'talk-one']].map((command) => [...command, '--backend', location]),
  ['import', inPlace('talk.jsonl'), '--backend', location],
  ['convert', location, `jsonl:${inPlace('new')}`],
  ['convert', `jsonl:${inPlace('good')}`, location],
]

beforeEach(async () => {
  await storeAt(`jsonl:${inPlace('good')}`, 'talk-one', (session) => twoTurns(session))
  await runCli(['export', 'talk-one', '--output', inPlace('talk.jsonl'), '--root', inPlace('good')])
})

interface Database {
  exec(sql: string): void
  close(): void
}

/** The driver of the backend, found from where the backend finds it. */
function openDatabase(file: string): Database {
  const fromSqlite = createRequire(createRequire(import.meta.url).resolve('@session-persistence/sqlite/package.json'))
  const Driver = fromSqlite('better-sqlite3') as new (file: string) => Database
  return new Driver(file)
}

function change(file: string, sql: string): void {
  const database = openDatabase(file)
  try {
    database.exec(sql)
  } finally {
    database.close()
  }
}

describe('the place of a database', () => {
  const codes = isPresent('sqlite')
    ? /: (CORRUPT|UNSUPPORTED_VERSION|PERMISSION_DENIED|INVALID_ARGUMENT): /
    : /: NOT_SUPPORTED: /
  const bad: { [what: string]: () => Promise<void> } = {
    'a directory': async () => void (await mkdir(inPlace('bad'))),
    zeros: async () => {
      await writeFile(inPlace('bad'), '')
      await truncate(inPlace('bad'), 1_000_000)
    },
    'a text': () => writeFile(inPlace('bad'), `Dear diary,\n${'nothing happened today.\n'.repeat(100)}`),
    'a log': () => cp(inPlace('talk.jsonl'), inPlace('bad')),
  }
  if (isPresent('sqlite')) {
    bad['a database of another program'] = async () => change(inPlace('bad'), 'CREATE TABLE bookmark (url TEXT)')
    bad['a database of sessions with a view in the place of a table'] = async () => {
      await storeAt(`sqlite:${inPlace('bad')}`, 'talk-one', (session) => twoTurns(session))
      change(inPlace('bad'), 'ALTER TABLE session RENAME TO other; CREATE VIEW session AS SELECT * FROM other')
    }
    bad['a database of a newer format'] = async () => {
      await storeAt(`sqlite:${inPlace('bad')}`, 'talk-one', (session) => twoTurns(session))
      change(inPlace('bad'), 'PRAGMA user_version = 1000')
    }
  } else {
    it.skip('databases are not looked at: better-sqlite3 cannot be loaded', () => undefined)
  }

  it.each(Object.entries(bad))('%s', async (_what, make) => {
    await make()
    const maintenance = [['compact'], ['backup', inPlace('copy')]]
    await expectAllRefused(
      [
        ...onStore(`sqlite:${inPlace('bad')}`),
        ...maintenance.map((command) => [...command, '--backend', `sqlite:${inPlace('bad')}`]),
      ],
      codes,
    )
  })
})

describe('a directory of sessions', () => {
  it.each([
    ['jsonl', 'jsonl-zstd'],
    ['jsonl-zstd', 'jsonl'],
  ])('of %s is not taken for one of %s without sessions', async (is, named) => {
    await storeAt(`${is}:${inPlace('bad')}`, 'talk-one', (session) => twoTurns(session))
    // What else lies there does not hide them.
    for (let n = 0; n < 40; n += 1) await writeFile(inPlace('bad', `${n}.txt`), '')
    const seal = named === 'jsonl-zstd' ? [['seal', '--all', '--backend', `${named}:${inPlace('bad')}`]] : []
    await expectAllRefused([...onStore(`${named}:${inPlace('bad')}`), ...seal], /INVALID_ARGUMENT: .*holds sessions of/)
  })

  it.each([
    ['jsonl', 'session.jsonl', 'jsonl-zstd', 'session.jsonl.zst'],
    ['jsonl-zstd', 'session.jsonl.zst', 'jsonl', 'session.jsonl'],
  ])('of %s whose %s was renamed is damaged to %s', async (is, name, named, newName) => {
    await storeAt(`${is}:${inPlace('bad')}`, 'talk-one', (session) => twoTurns(session))
    await rename(inPlace('bad', 'talk-one', name), inPlace('bad', 'talk-one', newName))
    await storeAt(`${named}:${inPlace('bad')}`, 'talk-two', (session) => twoTurns(session))
    const store = `${named}:${inPlace('bad')}`
    await expectAllRefused(
      [
        ['show', 'talk-one', '--backend', store],
        ['context', 'talk-one', '--backend', store],
        ['export', 'talk-one', '--backend', store],
      ],
      /: CORRUPT: /,
    )
    const listed = await runCli(['list', '--json', '--backend', store])
    expect(JSON.parse(listed.stdout).sessions).toMatchObject([
      { id: 'talk-two', state: 'ready' },
      { id: 'talk-one', state: 'damaged', error: { code: 'CORRUPT' } },
    ])
    const converted = await runCli(['convert', store, `jsonl:${inPlace('new')}`])
    expect(converted).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^converted {2}talk-two .*\n1 converted, 0 there already, 1 failed\n$/),
      stderr: expect.stringMatching(/^session-persistence: CORRUPT: [^\n]*talk-one[^\n]*\n$/),
    })
  })

  it.each(['sqlite:sessions.db', 'jsonl-zstd:sessions', 'jsonl:sessions', 'memory:'])(
    'is not %s, which is a location',
    async (location) => {
      for (const command of [['list'], ['import', inPlace('talk.jsonl')], ['resume', 'talk-one']]) {
        const { code, stdout, stderr } = await runCli([...command, '--root', location], { cwd: place.directory })
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
        expect(stderr).toContain(
          `INVALID_ARGUMENT: --root takes a directory, --backend a location: --backend ${location}`,
        )
      }
      expect(existsSync(inPlace(location))).toBe(false)
    },
  )
})
