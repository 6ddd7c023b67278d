// Proves that resume holds the one writer lock, acknowledges every line, recovers what a kill left, and lets go on signals.

import { openPersistence } from 'session-persistence'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ended, printed, runCli, startCli } from './support/run-cli.ts'
import { store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const resume = (...args: string[]): string[] => ['resume', 'talk-one', '--root', place.root, ...args]

describe('resume', () => {
  it('appends each line as a user message and acknowledges it', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const { code, stdout, stderr } = await runCli(resume('--json'), { input: 'First\n\n  \nZürich\u2028東京\r\nlast' })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [opened, ...receipts] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(opened).toMatchObject({ id: 'talk-one', nextSeq: 11, recovery: { survived: 11, closed: [] } })
    // Seq 11 is `session/resumed`, in the batch of the first line.
    expect(receipts.map(({ seq }) => seq)).toEqual([12, 13, 14])

    await using persistence = await openPersistence(`jsonl:${place.root}`)
    const view = await persistence.inspect('talk-one')
    expect(view.head).toEqual(receipts.at(-1))
    expect(view.messages().slice(-3)).toEqual(
      ['First', 'Zürich\u2028東京', 'last'].map((content) => ({ role: 'user', content })),
    )
  })

  it('shows one owner and one refusal that names it', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const owner = startCli(resume())
    await printed(owner, /resumed talk-one/)
    const second = await runCli(resume())
    expect(second).toMatchObject({ code: 3, stdout: '' })
    expect(second.stderr).toMatch(/^session-persistence: LOCKED: [^\n]+\n$/)
    expect(second.stderr).toContain(String(owner.pid))
    for (const refused of ['delete', 'annotate']) {
      const more = refused === 'annotate' ? ['--title', 'no'] : []
      const result = await runCli([refused, 'talk-one', '--root', place.root, ...more])
      expect(result).toMatchObject({ code: 3, stderr: expect.stringMatching(/LOCKED/) })
    }
    // Readers are not refused.
    expect(await runCli(['show', 'talk-one', '--root', place.root])).toMatchObject({ code: 0 })
    owner.stdin?.end()
    expect(await ended(owner)).toBe(0)
    expect(await runCli(resume())).toMatchObject({ code: 0 })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('lets go of the lock on %s, and keeps what was acknowledged', async (signal, code) => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const owner = startCli(resume())
    await printed(owner, /resumed talk-one/)
    owner.stdin?.write('Keep this\n')
    await printed(owner, /durable 12:/)
    owner.kill(signal)
    expect(await ended(owner)).toBe(code)
    const { code: again, stdout } = await runCli(resume('--json'))
    expect(again).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ recovery: { survived: 13 } })
  })

  it('prints the recovery report, closes an open turn once, or keeps it', async () => {
    await using persistence = await openPersistence(`jsonl:${place.root}`)
    const dying = await persistence.create({ id: 'talk-one' })
    await twoTurns(dying, true)
    await dying.abandon()
    const kept = await runCli(resume('--open-turn', 'keep'))
    expect(kept.stdout).toMatch(
      /9 events survived\n +turn 2 is still open\n +open call call-1 look: outcome-unknown \(/,
    )
    const closed = await runCli(resume())
    expect(closed.stdout).toMatch(/9 events survived\n +turn 2 was open; 2 events added .*9 tool\/result, 10 turn\/end/)
    const again = await runCli(resume())
    expect(again.stdout).toMatch(/11 events survived\n +no turn was open\n$/)
  })

  it('refuses a log that lacks the expected receipt, and input that is no text', async () => {
    await store(place.root, 'talk-one', (session) => twoTurns(session))
    const lost = await runCli(resume('--expect', '99:00000000'))
    expect(lost).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^session-persistence: CORRUPT: [^\n]+\n$/),
    })
    const binary = await runCli(resume(), { input: Buffer.from([0x66, 0xff, 0xfe, 0x0a]) })
    expect(binary).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^session-persistence: INVALID_ARGUMENT: line 1 [^\n]+\n$/),
    })
  })
})
