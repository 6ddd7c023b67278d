// Proves that the commands that look at, fork, annotate and delete sessions print what is stored, for people and programs.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from './support/run-cli.ts'
import { contentOf, store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const cli = (...args: string[]) => runCli([...args, '--root', place.root])
async function json(...args: string[]): Promise<unknown[]> {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('list', () => {
  it('shows sessions newest first, in pages that meet', async () => {
    for (const id of ['first', 'second', 'third']) await store(place.root, id, (session) => twoTurns(session))
    const { stdout, stderr } = await cli('list')
    expect(stdout.split('\n')[0]).toMatch(/^ID +UPDATED +TURNS +SIZE +TITLE$/)
    expect(stdout).toMatch(/^first +\d{4}-\d\d-\d\d \d\d:\d\d +2 +[\d.]+ k?B/m)
    expect(stderr).toBe('')

    const [all] = (await json('list')) as [{ sessions: { id: string; turns: number; labels: unknown }[] }]
    expect(all.sessions.map(({ turns }) => turns)).toEqual([2, 2, 2])
    expect(all.sessions[0]?.labels).toEqual({ team: 'red' })
    const pages: string[] = []
    let cursor: string[] = []
    do {
      const [page] = (await json('list', '--limit', '1', ...cursor)) as [
        { sessions: { id: string }[]; cursor?: string },
      ]
      pages.push(...page.sessions.map(({ id }) => id))
      cursor = page.cursor === undefined ? [] : ['--cursor', page.cursor]
    } while (cursor.length > 0)
    expect(pages).toEqual(all.sessions.map(({ id }) => id))
    const { stdout: everything } = await runCli(['list', '--all', '--limit', '1', '--json', '--root', place.root])
    expect(JSON.parse(everything)).toEqual(all)
  })

  it('filters, and says when nothing is left', async () => {
    await store(place.root, 'first', (session) => twoTurns(session))
    const found = async (...filter: string[]): Promise<number> =>
      ((await json('list', ...filter)) as [{ sessions: unknown[] }])[0].sessions.length
    expect(await found('--label', 'team=red', '--cwd', '/project', '--updated-after', '1h')).toBe(1)
    expect(await found('--label', 'team=blue')).toBe(0)
    expect(await found('--state', 'damaged')).toBe(0)
    expect((await cli('list', '--cwd', '/other')).stderr).toBe('No sessions.\n')
  })

  it('knows an untitled session by the first line of what was first asked for', async () => {
    await store(place.root, 'asked', (session) => {
      session.append('turn/start', { turn: 1 })
      const say = (content: string, kind?: string): unknown =>
        session.append('user/message', {
          turn: 1,
          message: { role: 'user', content },
          ...(kind === undefined ? {} : { source: { kind } }),
        })
      say('What the harness adds.', 'context')
      say(`\n\n\u001b[31mPaint it red. ${'x'.repeat(300)}\nAnd then blue.`)
    })
    const { stdout } = await cli('list')
    expect(stdout).toContain(' “␛[31mPaint it red. xx')
    expect(stdout).toMatch(/ “.{200,230}”\n$/)
    await cli('annotate', 'asked', '--title', 'Red')
    expect((await cli('list')).stdout).toMatch(/ Red\n$/)
  })

  it('names the ids that an ambiguous beginning may mean', async () => {
    for (const id of ['session-a', 'session-b', 'session-c'])
      await store(place.root, id, (session) => twoTurns(session))
    const { code, stderr } = await runCli(['show', 'session', '--root', place.root])
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^session-persistence: INVALID_ARGUMENT: 3 session ids start with this \(session-., session-., session-.\): give more of it\n$/,
    )
  })

  it('shows escape sequences of a title instead of sending them', async () => {
    await store(place.root, 'evil', (session) => {
      session.append('session/title', { title: '\u001b]0;owned\u0007\u001b[31mred' })
    })
    const { stdout } = await cli('list')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain('␛]0;owned␇␛[31mred')
  })

  it('tells where the next page is, outside of the table', async () => {
    for (const id of ['first', 'second']) await store(place.root, id, (session) => twoTurns(session))
    const { stdout, stderr } = await cli('list', '--limit', '1')
    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(stderr).toMatch(/^There are more: --cursor \S+\n$/)
  })
})

describe('show', () => {
  beforeEach(() => store(place.root, 'talk-one', (session) => twoTurns(session)))

  it('prints the transcript, by id or by its first characters', async () => {
    const { code, stdout } = await cli('show', 'talk-one')
    expect(code).toBe(0)
    for (const text of ['What is in the box?', 'A cat.', 'Looking.', '→ look {"where":"box"}', 'A dog.']) {
      expect(stdout).toContain(text)
    }
    expect((await cli('show', 'talk-o')).stdout).toBe(stdout)
  })

  it('cuts nothing where nobody looks at a width', async () => {
    const path = `/${'deep/'.repeat(60)}end`
    await store(place.root, 'talk-long', (session) => {
      session.append('turn/start', { turn: 1 })
      session.append('user/message', { turn: 1, message: { role: 'user', content: 'Read it.' } })
      const call = { callId: 'call-1', name: 'read', arguments: { path } }
      const message = { role: 'assistant', content: 'Reading.' }
      session.append('assistant/message', { turn: 1, message, toolCalls: [call] })
    })
    expect((await cli('show', 'talk-long')).stdout).toContain(`→ read {"path":"${path}"}\n`)
  })

  it('prints events as they are stored, and only those asked for', async () => {
    const events = (await json('show', 'talk-one')) as { seq: number; type: string }[]
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events[0]).toMatchObject({ type: 'request/header', data: { model: 'model-1' } })
    expect(await json('show', 'talk-one', '--from', '2', '--to', '3')).toEqual(events.slice(2, 4))
    expect(await json('show', 'talk-one', '--last', '3')).toEqual(events.slice(-3))
    const { stdout } = await cli('show', 'talk-one', '--events', '--last', '1')
    expect(stdout).toMatch(/^ +\d+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}turn\/end +\{"turn":2,/)
  })
})

describe('context', () => {
  it('is what the model saw at its last request, or will see next', async () => {
    await store(place.root, 'asked-one', async (session) => {
      session.append('request/header', { model: 'model-1' })
      session.append('turn/start', { turn: 1 })
      session.append('user/message', { turn: 1, message: { role: 'user', content: 'Hello' } })
      session.append('step/start', { turn: 1, step: 1 })
      await session.checkpoint({ model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] })
      session.append('assistant/message', {
        turn: 1,
        step: 1,
        message: { role: 'assistant', content: 'Hi' },
        toolCalls: [],
      })
    })
    const seen = { model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] }
    expect(await json('context', 'asked-one')).toEqual([{ seq: 4, attempt: 1, derived: false, context: seen }])
    const next = { context: { ...seen, messages: [...seen.messages, { role: 'assistant', content: 'Hi' }] } }
    expect(await json('context', 'asked-one', '--next')).toEqual([next])
    const { stdout } = await cli('context', 'asked-one')
    expect(stdout).toContain('What the model saw at its last request, seq 4')
    expect(stdout).toContain('Hello')
  })

  it('is a typed refusal when no request was ever made', async () => {
    await store(place.root, 'silent', (session) => {
      session.append('session/title', { title: 'nothing yet' })
    })
    expect(await cli('context', 'silent')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^session-persistence: NOT_FOUND: /),
    })
  })
})

describe('fork, annotate, delete', () => {
  it('make a child, name a session, and remove one without the other', async () => {
    await store(place.root, 'parent', (session) => twoTurns(session))
    const [fork] = await json('fork', 'parent', '--at', '4', '--id', 'child', '--label', 'try=two')
    expect(fork).toEqual({ id: 'child', parent: 'parent', at: 4 })
    expect(await json('fork', 'parent', '--turn', '1', '--id', 'first-turn')).toEqual([
      { id: 'first-turn', parent: 'parent', at: 4 },
    ])
    expect(await cli('fork', 'parent', '--turn', '9')).toMatchObject({ code: 3, stderr: expect.stringMatching(/turn/) })
    for (const other of ['--at', '--before']) {
      expect(await cli('fork', 'parent', '--turn', '1', other, '5')).toMatchObject({ code: 2, stdout: '' })
    }
    expect((await cli('fork', 'parent')).stdout).toMatch(/^[0-9a-f-]{36}\n$/)
    const [parentEvents, childEvents] = [await json('show', 'parent'), await json('show', 'child')]
    expect(childEvents.slice(0, 5)).toEqual(parentEvents.slice(0, 5))

    const [named] = await json('annotate', 'child', '--title', 'Second try', '--label', 'kept=yes')
    expect(named).toMatchObject({ id: 'child', head: { seq: 6 + 1 } })
    const [page] = (await json('list', '--parent', 'parent', '--label', 'kept=yes')) as [{ sessions: unknown[] }]
    expect(page.sessions).toMatchObject([{ id: 'child', title: 'Second try', labels: { try: 'two', kept: 'yes' } }])

    expect(await cli('delete', 'paren')).toMatchObject({ code: 3, stderr: expect.stringMatching(/NOT_FOUND/) })
    expect(await cli('delete', 'parent')).toMatchObject({ code: 0, stdout: 'deleted parent\n' })
    expect(await cli('show', 'parent')).toMatchObject({ code: 3, stderr: expect.stringMatching(/NOT_FOUND/) })
    expect(await json('show', 'child')).toHaveLength(8)
  })
})

describe('export', () => {
  beforeEach(() => store(place.root, 'talk-one', (session) => twoTurns(session)))

  it('writes a new private file, and never over one that is there', async () => {
    const file = join(place.directory, 'out.jsonl')
    expect(await cli('export', 'talk-one', '--output', file)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const { stdout } = await cli('export', 'talk-one')
    expect(await readFile(file, 'utf8')).toBe(stdout)
    await writeFile(file, 'mine')
    expect(await cli('export', 'talk-one', '--output', file)).toMatchObject({
      code: 3,
      stderr: `session-persistence: ALREADY_EXISTS: there is something already: ${file}\n`,
    })
    expect(await readFile(file, 'utf8')).toBe('mine')
    expect(await cli('export', 'no-such-session', '--output', join(place.directory, 'no'))).toMatchObject({ code: 3 })
    expect([...(await contentOf(place.directory)).keys()]).not.toContain('no')
  })
})

describe('verify', () => {
  it('answers yes with the head, and no to a receipt that the log does not hold', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const [report] = (await json('verify', '--all')) as [
      { id: string; ok: boolean; head: { seq: number; crc: string } },
    ]
    expect(report).toMatchObject({ id: 'talk-one', ok: true, problems: [] })
    const receipt = `${report.head.seq}:${report.head.crc}`
    expect(await cli('verify', 'talk-one', '--expect', receipt)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok /),
    })
    const beyond = await cli('verify', 'talk-one', '--expect', `${report.head.seq + 1}:${report.head.crc}`)
    expect(beyond).toMatchObject({ code: 1, stdout: expect.stringMatching(/^bad .*\n +CORRUPT /s) })
  })
})

describe('verify of a log that was cut', () => {
  it('tells a torn tail from damage, and claims nothing of what it held', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const file = join(place.root, 'talk-one', 'session.jsonl')
    await writeFile(file, (await readFile(file)).subarray(0, -9))
    expect(await cli('verify', 'talk-one')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^ok [^\n]+\n +torn tail: \d+ bytes from offset \d+ that hold no whole batch; a receipt \(--expect\) tells for certain whether events are missing\n +note: events? \d+ [^\n]*missing: the summary beside the log was made for [^\n]+\n$/,
      ),
    })
    // Without the summary nothing tells of it.
    await rm(join(place.root, 'talk-one', 'summary.json'))
    expect((await cli('verify', 'talk-one')).stdout).not.toContain('note')
  })
})

describe('verify --all', () => {
  it('goes on behind a session that cannot be read, and fails in the end', async () => {
    for (const id of ['talk-one', 'talk-three', 'talk-two']) await store(place.root, id, (session) => twoTurns(session))
    const logOf = (id: string): string => join(place.root, id, 'session.jsonl')
    await rm(logOf('talk-one'))
    await mkdir(logOf('talk-one'))
    await writeFile(logOf('talk-two'), (await readFile(logOf('talk-two'), 'utf8')).replace('A cat.', 'A bat.'))
    const { code, stdout, stderr } = await cli('verify', '--all')
    expect(code).toBe(3)
    const verdicts = stdout.match(/^(?:ok|bad) +talk-\w+/gm) ?? []
    expect(verdicts.sort()).toEqual(['bad  talk-two', 'ok   talk-three'])
    expect(stderr).toMatch(/^session-persistence: PERMISSION_DENIED: [^\n]+\n$/)
    expect(stdout).toMatch(/^ok +talk-three {2}\d+ events, \d[^,\n]*, head \d+:[0-9a-f]{8}$/m)
    expect(stdout).toMatch(/^bad +talk-two {2}\d+ events?, \d[^,\n]*$/m)
    const named = await cli('verify', 'talk-one', 'talk-two', 'talk-three')
    expect(named).toMatchObject({ code: 3, stdout: expect.stringMatching(/^bad .*\nok /s) })
  })
})

describe('repair', () => {
  it('only says what it would do, until it is told to write', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const log = [...(await contentOf(place.root)).keys()].find((name) => name.endsWith('session.jsonl')) ?? ''
    const file = join(place.root, log)
    const damaged = (await readFile(file, 'utf8')).replace('A cat.', 'A bat.')
    await writeFile(file, damaged)
    expect(await cli('verify', 'talk-one')).toMatchObject({ code: 1 })
    expect(await cli('resume', 'talk-one')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^session-persistence: CORRUPT: /),
    })

    const before = await contentOf(place.root)
    expect(await cli('repair', 'talk-one')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^would keep [^\n]+\n {2}seq 3: an event is lost; a stand-in takes its place\n/),
      stderr: '',
    })
    expect(await cli('repair', 'talk-o')).toEqual({
      code: 3,
      stdout: '',
      stderr: 'session-persistence: NOT_FOUND: no session with this full id is stored here (session talk-o)\n',
    })
    expect(await contentOf(place.root)).toEqual(before)
    expect(await cli('repair', 'talk-one', '--write')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^kept .*the original is at /s),
    })
    expect(await cli('verify', 'talk-one')).toMatchObject({ code: 0 })
  })
})
