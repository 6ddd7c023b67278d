// Proves that the commands do the same on every backend that keeps files, and that those for one backend (seal, compact,
// backup) do their work there and are a typed refusal elsewhere.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { digestLog, openPersistence } from 'session-persistence'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileSchemes, isPresent } from './support/file-backends.ts'
import { type CliResult, runCli } from './support/run-cli.ts'
import { contentOf, storeAt, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const at = (scheme: string, name: string = scheme): string => `${scheme}:${join(place.directory, name)}`
const cliAt = (location: string, ...args: readonly string[]): Promise<CliResult> =>
  runCli(args, { env: { SESSION_PERSISTENCE_BACKEND: location } })

if (!isPresent('sqlite')) it.skip('databases are not looked at: better-sqlite3 cannot be loaded', () => undefined)

describe.each(fileSchemes)('%s', (scheme) => {
  it('imports, lists, shows, verifies, resumes, forks, names, exports and deletes', async () => {
    await storeAt(at('jsonl', 'other'), 'talk-one', (session) => twoTurns(session, true))
    const exported = join(place.directory, 'talk-one.jsonl')
    await cliAt(at('jsonl', 'other'), 'export', 'talk-one', '--output', exported)

    const cli = (...args: readonly string[]): Promise<CliResult> => cliAt(at(scheme), ...args)
    const done = async (...args: readonly string[]): Promise<string> => {
      const { stdout, ...rest } = await cli(...args)
      expect(rest, args.join(' ')).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    expect(await done('import', exported)).toMatch(/^imported {3}talk-one\n/)
    expect(JSON.parse(await done('list', '--json')).sessions).toMatchObject([{ id: 'talk-one', events: 9, turns: 2 }])
    expect(await done('show', 'talk-one')).toContain('What is in the box?')
    expect(await done('context', 'talk-one', '--next')).toContain('Look again.')
    expect(await done('export', 'talk-one')).toBe(await readFile(exported, 'utf8'))
    const resumed = await runCli(['resume', 'talk-one', '--json', '--backend', at(scheme)], { input: 'Once more.\n' })
    expect(resumed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(resumed.stdout.split('\n')[0] ?? '')).toMatchObject({ id: 'talk-one', recovery: { survived: 9 } })
    expect(await done('verify', 'talk-one')).toMatch(/^ok {3}talk-one /)
    await done('fork', 'talk-one', '--id', 'talk-two')
    await done('annotate', 'talk-two', '--title', 'Second try')
    expect(JSON.parse(await done('list', '--json', '--parent', 'talk-one')).sessions).toMatchObject([
      { id: 'talk-two', title: 'Second try', state: 'ready' },
    ])
    expect(await cli('repair', 'talk-two')).toMatchObject({ stderr: expect.not.stringContaining('UNEXPECTED') })
    await done('delete', 'talk-one')
    expect(await cli('show', 'talk-one')).toMatchObject({ code: 3, stderr: expect.stringMatching(/NOT_FOUND/) })
    expect(await done('verify', '--all')).toMatch(/^ok {3}talk-two .*\n$/)
  })

  it('refuses the commands of the others, and writes nothing then', async () => {
    await storeAt(at(scheme), 'talk-one', (session) => twoTurns(session))
    const before = await contentOf(place.directory)
    const commands = { 'jsonl-zstd': ['seal', '--all'], sqlite: ['compact'] }
    const backup = ['backup', join(place.directory, 'copy')]
    const foreign = Object.entries({ ...commands, backup }).filter(
      ([own]) => own !== scheme && !(own === 'backup' && scheme === 'sqlite'),
    )
    for (const [, command] of foreign) {
      const result = await cliAt(at(scheme), ...command)
      expect(result, command.join(' ')).toMatchObject({ code: 3, stdout: '' })
      expect(result.stderr).toMatch(/^session-persistence: NOT_SUPPORTED: [^\n]+\n$/)
    }
    expect(await contentOf(place.directory)).toEqual(before)
  })
})

describe('seal', () => {
  it('makes sessions smaller without changing them, and reports the one that is being written', async () => {
    for (const id of ['talk-one', 'talk-two']) await storeAt(at('jsonl-zstd'), id, (session) => twoTurns(session))
    await using persistence = await openPersistence(at('jsonl-zstd'))
    const before = await digestLog(persistence, 'talk-one')
    const [sealed] = (await cliAt(at('jsonl-zstd'), 'seal', 'talk-one', '--json')).stdout.split('\n')
    const report = JSON.parse(sealed ?? '')
    expect(report).toMatchObject({ id: 'talk-one', batches: expect.any(Number) })
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore)
    expect(await digestLog(persistence, 'talk-one')).toEqual(before)

    await using open = await persistence.resume('talk-two')
    open.append('session/title', { title: 'open' })
    await open.flush()
    const all = await cliAt(at('jsonl-zstd'), 'seal', '--all')
    expect(all).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^talk-one {2}0 batches merged, /),
      stderr: expect.stringMatching(/^session-persistence: LOCKED: [^\n]*talk-two[^\n]*\n$/),
    })
    expect(await cliAt(at('jsonl-zstd'), 'seal', 'nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/NOT_FOUND/),
    })
  })
})

describe.runIf(isPresent('sqlite'))('compact and backup', () => {
  it('give space back, and copy a store that others write, into a new private file', async () => {
    await storeAt(at('sqlite'), 'talk-one', (session) => twoTurns(session))
    await using persistence = await openPersistence(at('sqlite'))
    await using open = await persistence.create({ id: 'talk-two' })
    await twoTurns(open, true)
    const wanted = await digestLog(persistence, 'talk-one')
    const compacted = await cliAt(at('sqlite'), 'compact', '--json')
    expect(compacted).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(compacted.stdout)).toMatchObject({ open: 1, damaged: 0, after: expect.any(Number) })

    const copy = join(place.directory, 'copy.db')
    const backedUp = await cliAt(at('sqlite'), 'backup', copy, '--json')
    expect(backedUp).toMatchObject({ code: 0, stderr: '' })
    const { size, mode } = await stat(copy)
    expect(JSON.parse(backedUp.stdout)).toEqual({ file: copy, bytes: size })
    expect(mode & 0o777).toBe(0o600)
    await using copied = await openPersistence(`sqlite:${copy}`)
    expect(await digestLog(copied, 'talk-one')).toEqual(wanted)
    expect(await digestLog(copied, 'talk-two')).toEqual(await digestLog(persistence, 'talk-two'))
    expect(await cliAt(at('sqlite'), 'backup', copy)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^session-persistence: ALREADY_EXISTS: /),
    })
  })
})
