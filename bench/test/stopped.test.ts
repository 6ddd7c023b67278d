// Proves that a bench that is told to stop, or whose backend stops it, shows what it has and leaves no store behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

/** The built program, as npm runs it. */
const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

let temporary = ''

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'interrupted-bench-'))
})

afterEach(() => {
  rmSync(temporary, { recursive: true, force: true })
})

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
  })
}

async function said(child: ChildProcess, pattern: RegExp): Promise<void> {
  let text = ''
  for await (const chunk of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk)
    if (pattern.test(text)) return
  }
  throw new Error(`ended before it said ${pattern}; it said: ${text}`)
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | string | null; readonly shown: string }> {
  child.stderr?.resume()
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code: signal ?? code, shown: Buffer.concat(chunks).toString() }))
  })
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

it.each(SIGNALS)('shows what was measured until %s', async (signal) => {
  const run = start('--quick', '--backend', 'jsonl', '--scenario', 'append')
  await said(run, /append, 1 a flush/)
  run.kill(signal)
  const { code, shown } = await ended(run)
  expect(shown).toContain('append failed: interrupted')
  expect(code).toBe(1)
  expect(readdirSync(temporary)).toEqual([])
})

it('passes it on to the part that is measured apart', async () => {
  const run = start('--quick', '--backend', 'jsonl', '--scenario', 'append', '--scenario', 'create')
  await said(run, /append, 1 a flush/)
  run.kill('SIGTERM')
  const { code, shown } = await ended(run)
  expect(shown).toContain('append failed: interrupted')
  expect(shown).toContain('create failed: interrupted')
  expect(code).toBe(1)
  expect(readdirSync(temporary)).toEqual([])
})

it('ends at once when it is told twice, and still leaves nothing', async () => {
  const run = start('--backend', 'jsonl', '--scenario', 'replay')
  await said(run, /storing/)
  run.kill('SIGTERM')
  run.kill('SIGINT')
  expect(await ended(run)).toEqual({ code: expect.any(Number) as number, shown: '' })
  expect(readdirSync(temporary)).toEqual([])
})

it.each(SIGNALS)('ends the gate at %s', async (signal) => {
  const gate = start('gate', '--backend', 'jsonl')
  await said(gate, /measur/)
  gate.kill(signal)
  expect(await ended(gate)).toEqual({ code: 1, shown: '' })
  expect(readdirSync(temporary)).toEqual([])
})

it('goes on with the others where a backend never answers', async () => {
  const run = start(
    '--quick',
    '--backend',
    'memory',
    '--backend',
    fixture('waiting-harness.js'),
    '--scenario',
    'append',
  )
  const { code, shown } = await ended(run)
  expect(shown).toContain('append, waiting failed: it waits for something that can never settle')
  expect(shown).toMatch(/^ {2}memory +session .* W/m)
  expect(code).toBe(1)
  expect(readdirSync(temporary)).toEqual([])
})

it('does not pass for a run where a backend ends the process', async () => {
  const run = start('--quick', '--backend', fixture('leaving-harness.js'), '--scenario', 'append')
  await said(run, /a backend ended the process/)
  expect(await ended(run)).toEqual({ code: 1, shown: '' })
  expect(readdirSync(temporary)).toEqual([])
})

it.each([
  ['--dir', '/nowhere/at/all', 'no store can be made in /nowhere/at/all: ENOENT'],
  ['--json', '/nowhere/at/all.json', 'the report cannot be written'],
])('is wrong usage with %s %s, before anything is measured', async (option, place, why) => {
  const run = start('--quick', '--backend', 'memory', '--scenario', 'append', '--scenario', 'create', option, place)
  const [{ code, shown }] = await Promise.all([ended(run), said(run, new RegExp(`^${why}`))])
  expect({ code, shown }).toEqual({ code: 2, shown: '' })
})
