// Proves that import, export and import again give equal events, that a second import changes nothing, and that one bad
// file among several is reported while the others are stored.
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from './support/run-cli.ts'
import { contentOf, store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const file = (name: string): string => join(place.directory, name)

describe('export and import', () => {
  it('give an equal session in another store', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    await runCli(['export', 'talk-one', '--output', file('out.jsonl'), '--root', place.root])
    const other = file('other')
    const imported = await runCli(['import', file('out.jsonl'), '--root', other, '--json'])
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(imported.stdout)).toMatchObject({ id: 'talk-one', outcome: 'imported', events: 11 })
    const events = async (root: string): Promise<string> =>
      (await runCli(['show', 'talk-one', '--json', '--root', root])).stdout
    expect(await events(other)).toBe(await events(place.root))
    expect((await runCli(['export', 'talk-one', '--root', other])).stdout).toBe(
      (await runCli(['export', 'talk-one', '--root', place.root])).stdout,
    )

    const before = await contentOf(other)
    const again = await runCli(['import', file('out.jsonl'), '--root', other])
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^unchanged {2}talk-one\n/) })
    expect(await contentOf(other)).toEqual(before)
  })

  it('go on after a file that is no log, and fail in the end', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    await runCli(['export', 'talk-one', '--output', file('out.jsonl'), '--root', place.root])
    await writeFile(file('diary.txt'), 'Nothing happened.\n')
    const result = await runCli(['import', file('diary.txt'), file('out.jsonl'), file('none'), '--root', file('other')])
    expect(result).toMatchObject({ code: 3, stdout: expect.stringMatching(/^imported {3}talk-one\n/) })
    expect(
      result.stderr
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ')[1]),
    ).toEqual(['INVALID_ARGUMENT', 'NOT_FOUND'])
  })

  it('refuse the log of another program that looks like a transcript, and name it', async () => {
    const frame = { uuid: 'a', parentUuid: null, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', type: 'user' }
    await writeFile(
      file('other.jsonl'),
      `${JSON.stringify({ ...frame, message: { role: 'user', parts: [{ text: 'Hello' }] } })}\n`,
    )
    const refused = await runCli(['import', file('other.jsonl'), '--root', place.root])
    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).toMatch(/^session-persistence: NOT_SUPPORTED: [^\n]+ is a Qwen Code log; [^\n]+\n$/)
    // Whoever names a format has decided, and is told what came of it.
    const forced = await runCli(['import', file('other.jsonl'), '--format', 'claude-code', '--root', place.root])
    expect(forced).toMatchObject({ code: 0, stderr: '' })
    expect(forced.stdout).toContain('1 record, 0 mapped and 1 kept')
    expect(forced.stdout).toContain('no record of a conversation was found in it: all are kept as they are\n')
  })

  it('take every log below a directory, follow no link, and go on after a directory without one', async () => {
    const ids = ['talk-one', 'talk-two']
    for (const id of ids) await store(place.root, id, (session) => twoTurns(session))
    await mkdir(file('logs/deep'), { recursive: true })
    await mkdir(file('empty'))
    await runCli(['export', 'talk-one', '--output', file('logs/one.jsonl'), '--root', place.root])
    await runCli(['export', 'talk-two', '--output', file('logs/deep/two.jsonl'), '--root', place.root])
    await writeFile(file('logs/notes.md'), 'No log.\n')
    await symlink(file('logs'), file('logs/deep/round'))
    const result = await runCli(['import', file('empty'), file('logs'), '--json', '--root', file('other')])
    expect(result).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^session-persistence: INVALID_ARGUMENT: this directory holds no \.jsonl[^\n]+\n$/),
    })
    const imported = result.stdout.trimEnd().split('\n')
    expect(imported.map((line) => JSON.parse(line))).toMatchObject([
      { id: 'talk-two', file: file('logs/deep/two.jsonl'), outcome: 'imported' },
      { id: 'talk-one', file: file('logs/one.jsonl'), outcome: 'imported' },
    ])
  })

  it('refuse an export that was cut or changed, and store nothing of it', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const { stdout } = await runCli(['export', 'talk-one', '--root', place.root])
    await writeFile(file('cut.jsonl'), stdout.slice(0, stdout.length / 2))
    await writeFile(file('changed.jsonl'), stdout.replace('A cat.', 'A bat.'))
    for (const name of ['cut.jsonl', 'changed.jsonl']) {
      const result = await runCli(['import', file(name), '--root', file('other')])
      expect(result, name).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringMatching(/^session-persistence: CORRUPT: [^\n]+\n$/),
      })
    }
    const listed = await runCli(['list', '--json', '--root', file('other')])
    expect(listed.code === 0 ? JSON.parse(listed.stdout).sessions : []).toEqual([])
  })
})
