// Proves that a read that failed is told apart from damage, which SQLite gives the same name, and that looking at the
// file for that takes no lock away from a connection that has it open.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { rolldown } from 'rolldown'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Driver, loadDriver } from '../src/driver.ts'
import { connectionClosed, toldApart } from '../src/failed-read.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const corrupt = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT' })
const SELECT = { sql: 'SELECT n FROM t WHERE n > ?', values: [0] }
const WRITE = { sql: 'INSERT INTO t VALUES (?)', values: [1] }

let driver: Driver
let path: string

beforeEach(async () => {
  driver = loadDriver()
  path = join(await temporaryDirectory(), 'a.db')
  writeFileSync(path, '')
  const connection = driver.open(path, 'write')
  connection.exec('CREATE TABLE t (n INTEGER)')
  connection.exec(
    'WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c LIMIT 2000) INSERT INTO t SELECT n FROM c',
  )
  connection.close()
})

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

describe('what SQLite calls corrupt', () => {
  const reading = [SELECT, { sql: 'BEGIN IMMEDIATE', values: [] }, { sql: 'PRAGMA data_version', values: [] }]
  it.each(reading)('and is sound when it is looked at again was a read that failed: $sql', (statement) => {
    const told = toldApart(corrupt, driver, path, statement)
    expect([codeOf(told), told instanceof Error ? told.cause : undefined]).toEqual(['SQLITE_IOERR_READ', corrupt])
  })

  // No check of the database tells all that a statement that writes may have met.
  it('by a statement that writes is believed while the file can be read', () => {
    expect(toldApart(corrupt, driver, path, WRITE)).toBe(corrupt)
  })

  it.each([SELECT, WRITE])('and is damaged stays so: $sql', (statement) => {
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, 4096, 8192))
    expect(toldApart(corrupt, driver, path, statement)).toBe(corrupt)
  })

  it('and cannot be read past SQLite either was a read that failed', () => {
    expect(codeOf(toldApart(corrupt, driver, join(path, '..'), SELECT))).toBe('SQLITE_IOERR_READ')
  })

  it('is looked for in the file that has the name now', () => {
    expect(toldApart(corrupt, driver, path, WRITE)).toBe(corrupt)
    rmSync(path)
    mkdirSync(path)
    expect(codeOf(toldApart(corrupt, driver, path, WRITE))).toBe('SQLITE_IOERR_READ')
  })

  it('by an extended code is damage that it has seen', () => {
    const seen = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT_INDEX' })
    expect(toldApart(seen, driver, path, SELECT)).toBe(seen)
  })
})

// Another copy of the module does not know of the connections of this one, and must not close what it looked with.
it('takes no lock away, whichever copy of the module looks, however often, and whatever it closes', async () => {
  const again = (await import(`${new URL('../src/failed-read.ts', import.meta.url).href}?again`)) as {
    toldApart: typeof toldApart
    connectionClosed: typeof connectionClosed
  }
  expect(again.toldApart).not.toBe(toldApart)
  const connection = driver.open(path, 'write')
  connection.exec('BEGIN EXCLUSIVE')
  for (const tell of [toldApart, again.toldApart, toldApart, again.toldApart]) {
    tell(corrupt, driver, path, WRITE)
    tell(corrupt, driver, path, SELECT)
    connectionClosed()
    again.connectionClosed()
  }
  const other = `
    const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve('better-sqlite3'))})
    try { new Database(process.argv[1], { timeout: 0 }).exec('BEGIN IMMEDIATE'); console.log('took it') }
    catch (error) { console.log(error.code) }`
  expect(execFileSync(process.execPath, ['-e', other, path], { encoding: 'utf8' }).trim()).toBe('SQLITE_BUSY')
  connection.close()
})

it.runIf(process.platform === 'linux')('keeps no descriptor once all is closed', () => {
  const connection = driver.open(path, 'write')
  toldApart(corrupt, driver, path, WRITE)
  connectionClosed()
  const ours = (): number => opened().filter((file) => file === path).length
  expect(ours()).toBe(2)
  connection.close()
  connectionClosed()
  expect(ours()).toBe(0)
})

function opened(): readonly string[] {
  return readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return '' // the one that lists
    }
  })
}

/** Plain Node runs no TypeScript, and no package exports this module. Returns its address. */
async function builtModule(name: string): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url)),
    platform: 'node',
    external: /^[@\w]/,
  })
  const file = fileURLToPath(new URL(`../.generated/${name}.mjs`, import.meta.url))
  await build.write({ file, format: 'esm' })
  await build.close()
  return pathToFileURL(file).href
}

it.each([
  ['a worker thread', 'SQLITE_CORRUPT'],
  ['the main thread', 'SQLITE_IOERR_READ'],
])('does not look past SQLite in %s, whose descriptors Node closes, unless it is the main one', async (where, code) => {
  const module = await builtModule('failed-read')
  const script = `
    import { parentPort } from 'node:worker_threads'
    const { toldApart } = await import(${JSON.stringify(module)})
    const error = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })
    const told = toldApart(error, { open() { throw error } }, ${JSON.stringify(join(path, '..'))}, ${JSON.stringify(WRITE)})
    parentPort === null ? console.log(told.code) : parentPort.postMessage(told.code)`
  if (where === 'a worker thread') {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), { execArgv: [] })
    expect((await once(worker, 'message'))[0]).toBe(code)
    await worker.terminate()
  } else {
    const args = ['--input-type=module', '-e', script]
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe(code)
  }
})
