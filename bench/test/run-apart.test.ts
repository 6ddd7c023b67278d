// Proves that a run of several scenarios in processes of their own gives one report, whatever happens to one of them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it, vi } from 'vitest'
import { runApart } from '../src/run-apart.ts'
import { partsOf } from '../src/run-bench.ts'

const FAILING = fileURLToPath(new URL('fixtures/failing-harness.js', import.meta.url))

const DYING = fileURLToPath(new URL('fixtures/dying-harness.js', import.meta.url))

afterEach(() => {
  vi.unstubAllEnvs()
})

const quiet = { progress: () => {}, signal: new AbortController().signal }
const memory = { common: ['--quick', '--backend', 'memory'], ...quiet }

it('measures each part, and gives one report of all', async () => {
  const parts = await partsOf({ backends: ['memory'], scenarios: ['pipelined', 'create'] })
  expect(parts.map(({ id }) => id)).toEqual(['pipelined', 'create'])
  const begun: string[] = []
  const report = await runApart(parts, { ...memory, progress: (text) => begun.push(text) })
  expect(report).toMatchObject({ partial: false, failures: [], scale: 'quick' })
  expect(report.backends.map(({ name }) => name)).toEqual(['memory'])
  expect(report.scenarios.map(({ id, seconds = 0 }) => [id, seconds > 0])).toEqual([
    ['pipelined', true],
    ['create', true],
  ])
  expect(new Set(report.rows.map(({ id }) => id.split('/')[0]))).toEqual(new Set(['pipelined', 'create']))
  expect(begun.length).toBeGreaterThan(1)
})

it('keeps what was measured when a backend fails in one part', async () => {
  const parts = await partsOf({ backends: ['memory', FAILING], scenarios: ['append', 'create'] })
  const report = await runApart(parts, { ...memory, common: [...memory.common, '--backend', FAILING] })
  expect(report.partial).toBe(true)
  expect(report.failures).toEqual([
    { scenario: 'append', backend: 'failing', code: 'NO_SPACE', message: 'the disk is full' },
  ])
  expect(report.rows.some(({ backend, id }) => backend === 'memory' && id.startsWith('create'))).toBe(true)
})

it('begins nothing after an interruption, and says what is missing', async () => {
  const abort = new AbortController()
  const parts = await partsOf({ backends: ['memory'], scenarios: ['pipelined', 'create', 'append'] })
  const progress = (text: string): void => {
    if (text.includes('creating')) abort.abort()
  }
  const report = await runApart(parts, { ...memory, progress, signal: abort.signal })
  expect(report.partial).toBe(true)
  expect(report.rows.some(({ id }) => id.startsWith('pipelined'))).toBe(true)
  expect(report.rows.some(({ id }) => id.startsWith('append'))).toBe(false)
  expect(report.failures.at(-1)).toEqual({ scenario: 'append', message: 'interrupted' })
})

it('names a part whose process dies, and removes its stores', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'run-apart-'))
  vi.stubEnv('TMPDIR', scratch)
  const parts = [
    { id: 'pipelined', args: ['--scenario', 'pipelined'] },
    { id: 'broken', args: ['--scenario', 'create', '--backend', DYING] },
  ]
  const report = await runApart(parts, memory)
  expect(report.partial).toBe(true)
  expect(report.failures).toEqual([{ scenario: 'broken', message: 'the measuring process was killed by SIGKILL' }])
  expect(readdirSync(scratch)).toEqual([])
  rmSync(scratch, { recursive: true })
})

it('refuses what is not known before anything is measured', async () => {
  await expect(partsOf({ scenarios: ['append', 'nonsense'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(partsOf({ backends: ['nonsense'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(runApart([{ id: 'x', args: ['--scenario', 'nonsense'] }], memory)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('nonsense') as string,
  })
})
