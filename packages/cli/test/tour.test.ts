// Proves that the tour holds what it promises: a kill in mid-turn, everything acknowledged found, two proven histories,
// every backend measured, nothing left behind; with a log of one's own too.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BACKENDS } from 'session-persistence'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ended, printed, runCli, startCli } from './support/run-cli.ts'

let temporary: string
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'session-persistence-tour-test-'))
})
afterEach(() => rm(temporary, { recursive: true }))

/** All of them, but for what this machine could not install. */
async function availableBackends(): Promise<string[]> {
  const states = await Promise.all(
    BACKENDS.map(async ({ scheme, availability }) => ({ scheme, ...(await availability()) })),
  )
  return states.flatMap(({ scheme, available }) => (available ? [scheme] : [])).sort()
}

const tour = (...args: string[]) => runCli(['tour', ...args], { cwd: temporary, env: { TMPDIR: temporary } })

describe('tour', () => {
  it('proves what it shows', async () => {
    const { code, stdout, stderr } = await tour('--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { interrupted, found, continued, branches, backends } = JSON.parse(stdout)

    expect(interrupted).toMatchObject({ signal: 'SIGKILL' })
    expect([...interrupted.running].sort()).toEqual(['read_file', 'write_report'])
    expect(interrupted.refusal).toMatch(new RegExp(`^LOCKED: .*${interrupted.pid}`))

    expect(found.check).toMatchObject({ ok: true, problems: [] })
    expect(found.events).toBeGreaterThan(interrupted.acknowledged.seq)
    expect(found.openCalls).toMatchObject([
      { name: 'read_file', tier: 'safe-to-retry' },
      { name: 'write_report', tier: 'outcome-unknown' },
    ])
    // prompt, answer, two results; then the second answer and the one result that came in time
    expect(found.surface).toHaveLength(6)
    expect(found.lastRequest.context.messages).toHaveLength(4)

    expect(continued.recovery.closed.map(({ type }: { type: string }) => type)).toEqual([
      'tool/result',
      'tool/result',
      'step/end',
      'turn/end',
    ])
    expect(continued.carriedOn.answer).toMatch(/^Done: \d+ files, \d+ lines, and the report is written\.$/)
    expect(Object.values(branches.proofs)).toEqual([true, true, true, true, true])
    expect(branches.parentExchange.answer).toContain('How large is this project')
    const measured = backends.flatMap(({ measurement }: { measurement?: object }) => measurement ?? [])
    expect(measured.map(({ backend }: { backend: string }) => backend).sort()).toEqual(await availableBackends())
    for (const measurement of measured) {
      for (const rate of ['appendEach', 'appendHundred', 'store', 'replay']) {
        expect(measurement[rate].perSecond, rate).toBeGreaterThan(0)
      }
      expect(measurement.bytes).toBeGreaterThan(0)
    }
    expect(await readdir(temporary)).toEqual([])
  })

  it('reads well without a terminal: 80 columns, no colour, nothing on standard error', async () => {
    const { code, stdout, stderr } = await tour()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toContain('\u001b')
    // A path is as long as it is.
    const lines = stdout.split('\n').filter((line) => !line.includes(temporary))
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
    expect(stdout).not.toContain('✗')
    expect(stdout.match(/✓/g)).toHaveLength(6)
  })

  it('keeps everything where it is told to, for the other commands', async () => {
    const { code } = await tour('--keep', 'kept', '--json')
    expect(code).toBe(0)
    const root = join(temporary, 'kept', 'sessions')
    const { stdout } = await runCli(['list', '--json', '--root', root])
    expect(JSON.parse(stdout).sessions).toHaveLength(2)
    expect(await runCli(['verify', '--all', '--root', root])).toMatchObject({ code: 0 })
    expect(await tour('--keep', 'kept')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/ALREADY_EXISTS/),
    })
  })

  it('leaves nothing behind when it is interrupted', async () => {
    const touring = startCli(['tour'], { cwd: temporary, env: { TMPDIR: temporary } })
    await printed(touring, /Process B looks/)
    touring.kill('SIGINT')
    expect(await ended(touring)).toBe(130)
    expect(await readdir(temporary)).toEqual([])
  })

  it('stores a log that it is given in every backend', async () => {
    const base = {
      cwd: '/project',
      sessionId: '7d1e4f7a-0b8c-4c5e-9f3a-2b1c0d9e8f70',
      version: '2.1.0',
      isSidechain: false,
    }
    const prompt = {
      ...base,
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      timestamp: '2026-01-01T00:00:00.000Z',
      message: { role: 'user', content: 'Hi' },
    }
    const content = [{ type: 'text', text: 'Hello.' }]
    const answer = {
      ...base,
      type: 'assistant',
      uuid: 'a1',
      parentUuid: 'u1',
      timestamp: '2026-01-01T00:00:01.000Z',
      message: { id: 'm1', role: 'assistant', model: 'model-1', content },
    }
    await writeFile(join(temporary, 'transcript.jsonl'), `${JSON.stringify(prompt)}\n${JSON.stringify(answer)}\n`)
    const { code, stdout, stderr } = await tour('transcript.jsonl', '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { log, backends } = JSON.parse(stdout)
    expect(log.source).toMatch(/^claude-code/)
    const stored = backends.flatMap(
      ({ measurement }: { measurement?: { store: { events: number } } }) => measurement ?? [],
    )
    expect(stored.map(({ store }: { store: { events: number } }) => store.events)).toEqual(
      (await availableBackends()).map(() => log.events),
    )
  })
})
