// Proves that the bench measures a user's own log, that bad input is one typed error, and that what was measured is kept
// when a backend fails.
import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { badFiles } from './support/bad-files.ts'
import { main, runCli } from './support/run-cli.ts'
import { store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

const failingHarness = fileURLToPath(new URL('../../../bench/test/fixtures/failing-harness.js', import.meta.url))

let place: TemporaryRoot
let log: string
beforeEach(async () => {
  place = await temporaryRoot()
  log = join(place.directory, 'log.jsonl')
  await store(place.root, 'measured', (session) => twoTurns(session))
  await runCli(['export', 'measured', '--root', place.root, '--output', log])
})
afterEach(() => place[Symbol.asyncDispose]())

/** Stores where a test can look whether anything was left. */
const stores = async (): Promise<NodeJS.ProcessEnv> => ({ TMPDIR: await temporaryDirectory() })
const temporaryDirectory = async (): Promise<string> => {
  const directory = join(place.directory, 'stores')
  await import('node:fs/promises').then(({ mkdir }) => mkdir(directory))
  return directory
}

describe('bench FILE', { timeout: 120_000 }, () => {
  it('measures that log and nothing else, on every backend, and leaves nothing behind', async () => {
    const env = await stores()
    const page = join(place.directory, 'page.html')
    const result = await runCli(['bench', log, '--quick', '--json', '--html', page], { env })
    expect(result).toMatchObject({ code: 0, stderr: '' })
    const report = JSON.parse(result.stdout)
    expect(report).toMatchObject({ format: 'session-persistence-bench', partial: false, failures: [] })
    const measured = report.rows.map(({ id, backend }: { id: string; backend: string }) => `${id} ${backend}`)
    expect(measured).toEqual(
      expect.arrayContaining(['logs-1/replay jsonl', 'logs-1/append/1 jsonl', 'logs-1/size jsonl-zstd']),
    )
    expect(measured.filter((name: string) => !name.startsWith('logs-1/'))).toEqual([])
    expect(await readFile(page, 'utf8')).toContain('log.jsonl is short (11 events')
    expect(report.scenarios).toMatchObject([{ id: 'logs-1', caution: expect.stringMatching(/^log\.jsonl is short/) }])
    expect(await readdir(join(place.directory, 'stores'))).toEqual([])
  })

  it('measures several logs of one directory', async () => {
    await writeFile(join(place.directory, 'notes.txt'), 'no log')
    const result = await runCli(['bench', place.directory, '--quick', '--backend', 'jsonl'])
    expect(result.code).toBe(0)
    expect(result.stdout).toContain('full replay')
    expect(result.stdout).toContain('measured in')
    // Eleven events are done before anything could disturb them.
    expect(result.stdout).toMatch(/ is short \(\d+ events, fewer than 1,000\): its intervals are wide/)
  })
})

describe('bench with bad input', { timeout: 120_000 }, () => {
  const refused = async (...args: readonly string[]): Promise<string> => {
    const env = await stores()
    const { code, stdout, stderr } = await runCli(['bench', ...args], { env })
    expect(stderr).toMatch(/^session-persistence: [A-Z_]+: [^\n]+\n$/)
    expect(stderr).not.toContain('UNEXPECTED')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(await readdir(join(place.directory, 'stores'))).toEqual([])
    return stderr
  }

  it.each(Object.entries(badFiles))('refuses %s', async (_what, make) => {
    const bad = join(place.directory, 'bad')
    await make(bad)
    await refused(bad)
  })

  it('refuses names that it does not know, and says which it knows', async () => {
    expect(await refused('--scenario', 'speed')).toContain('known: append, durability')
  })

  it('refuses a backend that it does not know', async () => {
    expect(await refused('--backend', 'floppy')).toContain('known: jsonl, jsonl-packed')
  })

  it('refuses a log that is not there', async () => {
    expect(await refused(join(place.directory, 'none.jsonl'))).toContain('NOT_FOUND')
  })

  it('refuses a directory for stores that is not there', async () => {
    expect(await refused(log, '--dir', join(place.directory, 'none'))).toContain('NOT_FOUND')
  })
})

describe('bench that fails in between', { timeout: 120_000 }, () => {
  it('shows what the others gave, says what failed, and ends with 3', async () => {
    const backends = ['--backend', 'memory', '--backend', failingHarness]
    const result = await runCli(['bench', '--quick', '--scenario', 'create', '--scenario', 'append', ...backends])
    expect(result.stderr).toBe('session-persistence: NO_SPACE: append, failing: the disk is full\n')
    expect(result.code).toBe(3)
    expect(result.stdout).toContain('Partial run')
    expect(result.stdout).toMatch(/durable append, 1 event a flush\n(.*\n)+? {2}memory +session/)
  })

  it('says NO_SPACE where the disk is full', async () => {
    const run = promisify(execFile)
    const limited = ['--fsize=60000:60000', process.execPath, main, 'bench', log, '--quick', '--backend', 'jsonl']
    const failure = await run('prlimit', [...limited, '--scenario', 'replay']).catch((error: unknown) => error)
    if (failure instanceof Error && 'code' in failure && failure.code === 'ENOENT') return
    expect(failure).toMatchObject({ code: 3, stderr: expect.stringMatching(/^session-persistence: NO_SPACE: /m) })
    expect(failure).toMatchObject({ stdout: expect.stringMatching(/Partial run/) })
  })
})
