// Proves that whatever is named by mistake gets a typed error in one line and a failing exit code, from every command,
// and that nothing is written and nothing hangs.
import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { badFiles } from './support/bad-files.ts'
import { type CliResult, ended, main, runCli, textOf } from './support/run-cli.ts'
import { contentOf, store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

/** Commands that take a session id. */
const onSession = (id: string): readonly (readonly string[])[] => [
  ['show', id],
  ['show', id, '--json'],
  ['context', id],
  ['resume', id],
  ['follow', id, '--from', '0'],
  ['fork', id],
  ['annotate', id, '--title', 'no'],
  ['verify', id],
  ['repair', id],
  ['export', id],
]

function expectTypedError({ code, stdout, stderr }: CliResult, command: readonly string[]): void {
  expect(stderr, command.join(' ')).toMatch(/^session-persistence: [A-Z_]+: [^\n]+\n$/)
  expect(stderr).not.toContain('UNEXPECTED')
  expect({ code, stdout }, command.join(' ')).toEqual({ code: 3, stdout: '' })
}

/** Two at a time: none of them may write, so none can be in another's way. */
async function expectAllRefused(commands: readonly (readonly string[])[]): Promise<CliResult[]> {
  const waiting = [...commands]
  const results: CliResult[] = []
  const work = async (): Promise<void> => {
    for (let command = waiting.shift(); command !== undefined; command = waiting.shift()) {
      const result = await runCli(command)
      expectTypedError(result, command)
      results.push(result)
    }
  }
  await Promise.all([work(), work()])
  return results
}

describe.each(Object.entries(badFiles))('%s', (_what, make) => {
  let bad: string
  beforeEach(async () => {
    bad = join(place.directory, 'bad')
    await make(bad)
  })

  it('as a file to import or to tour', async () => {
    const before = await contentOf(place.directory)
    const commands = [
      ['import', bad, '--root', place.root],
      ['import', bad, '--dry-run'],
      ['tour', bad],
    ]
    for (const command of commands) expectTypedError(await runCli(command), command)
    expect(await contentOf(place.directory)).toEqual(before)
  })

  it('as the root of a store', async () => {
    const before = await contentOf(place.directory)
    const directory = before.get('bad') === 'directory'
    const commands = [['list'], ['show', 'any'], ['resume', 'any'], ['delete', 'any']]
    const refused = commands.filter(([name]) => !(directory && name === 'list'))
    await expectAllRefused(refused.map((command) => [...command, '--root', bad]))
    // An empty directory is a store without sessions.
    if (directory) expect(await runCli(['list', '--root', bad])).toMatchObject({ code: 0, stdout: '' })
    expect(await contentOf(place.directory)).toEqual(before)
  })

  it('in the place of a stored log', async () => {
    await store(place.root, 'damaged', (session) => twoTurns(session))
    await store(place.root, 'healthy', (session) => twoTurns(session))
    const names = [...(await contentOf(place.root)).keys()]
    const log = names.find((name) => name.includes('damaged') && name.endsWith('session.jsonl')) ?? ''
    await rm(join(place.root, log))
    await make(join(place.root, log))
    const before = await contentOf(place.root)
    const asked = ['verify', 'repair']
    const commands = onSession('damaged').map((command) => [...command, '--root', place.root])
    await expectAllRefused(commands.filter(([name = '']) => !asked.includes(name)))
    // These two are asked what is wrong, and may answer instead of failing.
    for (const name of asked) {
      const result = await runCli([name, 'damaged', '--root', place.root])
      if (result.code === 1) expect(result).toMatchObject({ stdout: expect.stringMatching(/\n/), stderr: '' })
      else expectTypedError(result, [name])
    }
    const listed = await runCli(['list', '--json', '--root', place.root])
    expect(JSON.parse(listed.stdout).sessions).toMatchObject([
      { id: 'healthy', state: 'ready' },
      { id: 'damaged', state: 'damaged' },
    ])
    const without = (content: ReadonlyMap<string, string>): [string, string][] =>
      [...content].filter(([name]) => !name.includes('.lock'))
    expect(without(await contentOf(place.root))).toEqual(without(before))
  })
})

describe('a store that is not there', () => {
  it('is neither an empty one nor made by looking', async () => {
    const before = await contentOf(place.directory)
    const commands = [['list'], ...onSession('any'), ['delete', 'any']]
    await expectAllRefused(commands.map((command) => [...command, '--root', place.root]))
    expect(await contentOf(place.directory)).toEqual(before)
  })
})

describe('a path in the place of a session id', () => {
  it('is an id that nobody has, to every command', async () => {
    await store(place.root, 'good', (session) => twoTurns(session))
    const before = await contentOf(place.directory)
    const commands = [...onSession(place.directory), ['delete', place.directory]]
    await expectAllRefused(commands.map((command) => [...command, '--root', place.root]))
    expect(await contentOf(place.directory)).toEqual(before)
  })
})

describe('session ids', () => {
  const ids = ['', '..', '../outside', '/etc/passwd', 'a\\b', 'CON', 'x.', 'x'.repeat(5000), 'e\u0301', '\u001b[2J']
  it.each(ids)('%j is looked for inside the root only, and not found', async (id) => {
    await store(place.root, 'good', (session) => twoTurns(session))
    const before = await contentOf(place.directory)
    const commands = ['show', 'delete'].map((name) => [name, id, '--root', place.root])
    for (const { stderr } of await expectAllRefused(commands)) {
      expect(stderr).toMatch(/: (NOT_FOUND|INVALID_ID): /)
      expect(stderr).not.toContain('\u001b')
    }
    expect(await contentOf(place.directory)).toEqual(before)
  })
})

describe('memory:', () => {
  it('is refused, since nothing of it is left for the next command', async () => {
    const result = await runCli(['list', '--backend', 'memory:'])
    expectTypedError(result, ['list'])
    expect(result.stderr).toContain('NOT_SUPPORTED')
  })
})

it('a working directory that was removed', async () => {
  for (const command of [['list'], ['verify', 'abcdef'], ['import', 'x.jsonl'], ['tour', '--keep', 'x']]) {
    const gone = join(place.directory, 'gone')
    await mkdir(gone)
    const result = await inRemovedDirectory(gone, command)
    expectTypedError({ ...result, stdout: '' }, command)
  }
})

it('a directory for temporary files that is not there', async () => {
  const result = await runCli(['tour'], { env: { TMPDIR: join(place.directory, 'nothing') } })
  expectTypedError({ ...result, stdout: '' }, ['tour'])
  expect(result.stderr).toContain(join(place.directory, 'nothing'))
})

// Linux alone has file names of any bytes.
it.runIf(process.platform === 'linux')('a file whose name is not UTF-8', async () => {
  const name = Buffer.concat([Buffer.from(`${place.directory}/b`), Buffer.from([0xe4]), Buffer.from('r.jsonl')])
  await writeFile(name, '{}')
  for (const command of ['import', 'tour']) {
    // A shell passes the bytes on as they are; `$1` holds them in octal.
    const octal = [...name].map((byte) => `\\0${byte.toString(8)}`).join('')
    const script = `file=$(printf '%b' "$1"); shift; exec "$@" ${command} "$file"`
    const result = await runShell(script, [octal, process.execPath, main])
    expectTypedError({ ...result, stdout: '' }, [command])
    expect(result.stderr).toContain('INVALID_ARGUMENT')
    expect(result.stderr).toContain('not UTF-8')
  }
})

function inRemovedDirectory(directory: string, command: readonly string[]): Promise<CliResult> {
  return runShell('cd "$1" && rmdir "$1" && shift && exec "$@"', [directory, process.execPath, main, ...command])
}

async function runShell(script: string, args: readonly string[]): Promise<CliResult> {
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended(child)])
  return { code, stdout, stderr }
}
