// Proves that convert moves sessions between stores of every kind, that it can be killed at any moment and run again, and
// that what cannot be copied is reported by id, keeps nothing else out, and shows in the exit code.
import { once } from 'node:events'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  convertSessions,
  crc32Hex,
  digestLog,
  type LogDigest,
  openPersistence,
  type Session,
} from 'session-persistence'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileSchemes } from './support/file-backends.ts'
import { printed, runCli, startCli } from './support/run-cli.ts'
import { contentOf, storeAt, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const at = (scheme: string, name: string = scheme): string => `${scheme}:${join(place.directory, name)}`
/** Another backend than plain JSONL: SQLite, where this machine has it. */
const another = fileSchemes.at(-1) ?? ''

interface Line {
  readonly id: string
  readonly outcome: string
  readonly digest?: string
  readonly events?: number
  readonly error?: { readonly code: string }
}

function lines(stdout: string): Line[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

async function digests(location: string): Promise<ReadonlyMap<string, LogDigest>> {
  await using persistence = await openPersistence(location)
  const { sessions } = await persistence.list({ limit: 1000 })
  const all = await Promise.all(sessions.map(({ id }) => digestLog(persistence, id)))
  return new Map(all.map((digest) => [digest.id, digest]))
}

/** Many events in few flushes, so that writing it takes a while. */
async function long(session: Session, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) {
    session.append('turn/start', { turn })
    session.append('user/message', { turn, message: { role: 'user', content: `Question ${turn}` } })
    session.append('step/start', { turn, step: 1 })
    for (let index = 0; index < 20; index++) {
      session.append('assistant/chunk', { turn, step: 1, kind: 'text', index: 0, text: `word ${index} ` })
    }
    session.append('step/end', { turn, step: 1 })
    session.append('turn/end', { turn, reason: { kind: 'completed' } })
    if (turn % 500 === 0) await session.flush()
  }
}

/** The log as a program of format version 9 would begin it. */
function newer(log: string): string {
  const end = log.indexOf('\n')
  const header = log
    .slice(0, end)
    .replace('"version":1', '"version":9')
    .replace(/,"crc":"[0-9a-f]{8}"\}$/, '')
  return `${header},"crc":"${crc32Hex(header)}"}${log.slice(end)}`
}

describe('convert', () => {
  it.each(fileSchemes.flatMap((from) => fileSchemes.map((to) => [from, to] as const)))(
    '%s to %s, and again',
    async (from, to) => {
      await storeAt(at(from), 'talk-one', (session) => twoTurns(session))
      await storeAt(at(from), 'talk-two', (session) => twoTurns(session, true))
      const before = await digests(at(from))
      const target = at(to, 'target')
      const first = await runCli(['convert', at(from), target, '--json'])
      expect(first).toMatchObject({ code: 0, stderr: '' })
      expect(new Map(lines(first.stdout).map(({ outcome, ...digest }) => [digest.id, digest]))).toEqual(before)
      expect(lines(first.stdout).map(({ outcome }) => outcome)).toEqual(['converted', 'converted'])
      expect(await digests(target)).toEqual(before)

      const again = await runCli(['convert', at(from), target])
      expect(again).toMatchObject({ code: 0, stderr: '' })
      expect(again.stdout.split('\n').at(-2)).toBe('0 converted, 2 there already, 0 failed')
      expect(await digests(target)).toEqual(before)
    },
  )

  it('can take it from the end of a session that it is there', async () => {
    await storeAt(at('jsonl'), 'talk-one', (session) => twoTurns(session))
    const command = ['convert', at('jsonl'), at(another), '--json', '--trust-present']
    const first = await runCli(command)
    expect(lines(first.stdout)).toMatchObject([{ outcome: 'converted', digest: expect.any(String) }])
    const again = await runCli(command)
    expect(lines(again.stdout)).toEqual([
      {
        outcome: 'present',
        id: 'talk-one',
        events: 11,
        head: { seq: 10, crc: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
    ])
  })

  it('says what a source that was cut is short of, and the copy says it too', async () => {
    const source = join(place.directory, 'source')
    await storeAt(`jsonl:${source}`, 'talk-one', (session) => twoTurns(session))
    const path = join(source, 'talk-one', 'session.jsonl')
    const bytes = await readFile(path)
    await truncate(path, bytes.lastIndexOf(0x0a, bytes.length - 2) + 1)
    const target = at(another)
    const { code, stdout } = await runCli(['convert', `jsonl:${source}`, target])
    expect(code).toBe(0)
    expect(stdout).toMatch(/\n {11}events 9 to 10 are missing: /)
    expect((await runCli(['verify', 'talk-one', '--backend', target])).stdout).toMatch(/events 9 to 10 are missing: /)
  })

  it.each(fileSchemes)('killed in the middle and run again, into %s', async (to) => {
    const source = at('jsonl', 'source')
    await storeAt(source, 'long-last', (session) => long(session, 700))
    await storeAt(source, 'long-next', (session) => long(session, 700))
    await storeAt(source, 'short-first', (session) => twoTurns(session))
    const wanted = await digests(source)
    const target = at(to, 'target')

    const child = startCli(['convert', source, target, '--json'])
    await printed(child, /short-first/)
    child.kill('SIGKILL')
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])

    const arrived = await digests(target)
    expect(arrived.get('short-first')).toEqual(wanted.get('short-first'))
    for (const [id, digest] of arrived) expect(digest, id).toEqual(wanted.get(id))

    const again = await runCli(['convert', source, target, '--json'])
    expect(again).toMatchObject({ code: 0, stderr: '' })
    for (const { id, outcome } of lines(again.stdout)) {
      expect(outcome, id).toBe(arrived.has(id) ? 'present' : 'converted')
    }
    expect(await digests(target)).toEqual(wanted)
    expect(await runCli(['verify', '--all', '--backend', target])).toMatchObject({ code: 0, stderr: '' })
  })

  it('reports what is damaged, newer, being written or taken, and copies the rest', async () => {
    const [source, target] = [at('jsonl', 'source'), at(another, 'target')]
    for (const id of ['good-one', 'damaged-one', 'newer-one', 'taken-one']) {
      await storeAt(source, id, (session) => twoTurns(session))
    }
    await storeAt(target, 'taken-one', (session) => twoTurns(session, true))
    const log = (id: string): string => join(place.directory, 'source', id, 'session.jsonl')
    await writeFile(log('damaged-one'), (await readFile(log('damaged-one'), 'utf8')).replace('A cat.', 'A bat.'))
    await writeFile(log('newer-one'), newer(await readFile(log('newer-one'), 'utf8')))
    await using persistence = await openPersistence(source)
    await using open = await persistence.create({ id: 'open-one' })
    await twoTurns(open, true)

    const before = await contentOf(join(place.directory, 'source'))
    const result = await runCli(['convert', source, target, '--json'])
    expect(result.code).toBe(3)
    const outcomes = lines(result.stdout).map(({ id, outcome, error }) => [id, error?.code ?? outcome])
    expect(Object.fromEntries(outcomes)).toEqual({
      'good-one': 'converted',
      'damaged-one': 'CORRUPT',
      'newer-one': 'UNSUPPORTED_VERSION',
      'open-one': 'LOCKED',
      'taken-one': 'ALREADY_EXISTS',
    })
    // Whoever reads it wants to know what is different, and two logs of one length are as different as others.
    expect(result.stderr).toMatch(/in the target: its content differs \(events there: \d+, here: 11\)/)
    const told = result.stderr.split('\n').filter((line) => line !== '')
    expect(told).toHaveLength(4)
    for (const line of told) expect(line).toMatch(/^session-persistence: [A-Z_]+: .*(damaged|newer|open|taken)-one/)
    expect(await contentOf(join(place.directory, 'source'))).toEqual(before)
    expect([...(await digests(target)).keys()].sort()).toEqual(['good-one', 'taken-one'])

    expect(await runCli(['convert', source, at('jsonl', 'other'), '--id', 'good-o', '--id', 'no-such'])).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^converted {2}good-one .*\n1 converted, 0 there already, 1 failed\n$/),
      stderr: expect.stringMatching(/^session-persistence: NOT_FOUND: .*no-such.*\n$/),
    })
  })

  it('refuses one place for both, and makes no target for a source that is not there', async () => {
    await storeAt(at('jsonl'), 'talk-one', (session) => twoTurns(session))
    const before = await contentOf(place.directory)
    const refused = [
      [at('jsonl'), at('jsonl'), 'INVALID_ARGUMENT'],
      [at('jsonl'), at('jsonl-zstd', 'jsonl/.'), 'INVALID_ARGUMENT'],
      [at('sqlite'), at('jsonl', 'new'), 'NOT_FOUND'],
      [at('jsonl', 'none'), at('sqlite', 'new'), 'NOT_FOUND'],
      ['memory:', at('sqlite', 'new'), 'NOT_SUPPORTED'],
      [at('jsonl'), 'memory:', 'NOT_SUPPORTED'],
      [at('jsonl'), 'nonsense', 'INVALID_ARGUMENT'],
    ] as const
    for (const [from, to, code] of refused) {
      const result = await runCli(['convert', from, to])
      expect(result, `${from} ${to}`).toMatchObject({ code: 3, stdout: '' })
      expect(result.stderr).toMatch(new RegExp(`^session-persistence: ${code}: [^\n]+\n$`))
    }
    expect(await contentOf(place.directory)).toEqual(before)
  })
})

describe('convertSessions', () => {
  it('leaves nothing of a session that was stopped in the middle', async () => {
    await storeAt(at('jsonl'), 'long-one', (session) => long(session, 200))
    for (const scheme of [...fileSchemes, 'memory']) {
      await using from = await openPersistence(at('jsonl'))
      await using to = await openPersistence(scheme === 'memory' ? 'memory:' : at(scheme, `to-${scheme}`))
      const stop = new AbortController()
      const reason = new Error('enough')
      const converting = convertSessions(from, to, { signal: stop.signal, onProgress: () => stop.abort(reason) })
      await expect(converting.next()).rejects.toBe(reason)
      expect((await to.list()).sessions, scheme).toEqual([])
      for await (const session of convertSessions(from, to)) expect(session).toMatchObject({ outcome: 'converted' })
      expect(await digestLog(to, 'long-one')).toEqual(await digestLog(from, 'long-one'))
    }
  })

  it('sees a copy that ends equally and differs before, unless told to look at the end only', async () => {
    await storeAt(at('jsonl'), 'talk-one', (session) => twoTurns(session))
    await using from = await openPersistence(at('jsonl'))
    await using to = await openPersistence('memory:')
    const { header, events } = await from.exportLog('talk-one')
    const changed = (async function* () {
      for await (const page of events) {
        yield page.map((event) => JSON.parse(JSON.stringify(event).replace('A cat.', 'A bat.')))
      }
    })()
    await to.importLog({ header, events: changed })
    const outcome = (await convertSessions(from, to).next()).value
    expect(outcome).toMatchObject({ outcome: 'failed', id: 'talk-one', error: { code: 'CORRUPT' } })
    const trusted = (await convertSessions(from, to, { recognise: 'head' }).next()).value
    expect(trusted).toMatchObject({ outcome: 'present', events: 11 })
    await expect(convertSessions(from, from).next()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
