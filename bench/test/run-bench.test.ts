// Proves that a run measures what was asked for, keeps what it has when something fails, and leaves nothing behind.
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GOAL_LINES, limitOf } from '../src/goals/goals.ts'
import { type BenchReport, type Row, runBench, terminalReport } from '../src/index.ts'
import { QUICK, type Scale } from '../src/scenario/scale.ts'

/** Enough to run through every line; says nothing about speed. */
const TINY: Scale = {
  ...QUICK,
  rounds: 2,
  warmUp: 1,
  longRounds: 2,
  longWarmUp: 0,
  flushes: { 1: 2, 10: 1, 100: 1, 1000: 1 },
  settled: 2,
  pipelined: 20,
  sessions: 4,
  deltaEvents: 400,
  messageEvents: 50,
  longEvents: 2000,
  listed: 20,
  processes: 1,
  streamSeconds: 0.1,
}

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

const backendRows = ({ rows }: BenchReport): readonly Row[] => rows.filter(({ role }) => role === 'backend')

let scratch = ''
const { TMPDIR } = process.env

beforeEach(async () => {
  scratch = await fs.mkdtemp(path.join(os.tmpdir(), 'bench-test-'))
  process.env.TMPDIR = scratch
})

afterEach(async () => {
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  await fs.rm(scratch, { recursive: true, force: true })
})

describe('runBench', () => {
  it('gives every scenario a row, reads the modes back, and removes its stores', async () => {
    const report = await runBench({ backends: ['memory'], scenarios: ['append', 'replay', 'create'], scale: TINY })
    expect(report).toMatchObject({ format: 'session-persistence-bench', version: 1, partial: false, failures: [] })
    expect(new Set(report.rows.map(({ id }) => id.split('/')[0]))).toEqual(new Set(['append', 'replay', 'create']))
    expect(report.backends).toMatchObject([{ name: 'memory', description: { capabilities: { durability: 'memory' } } }])
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
    expect(await fs.readdir(scratch)).toEqual([])
  })

  it('judges by no goal that was stated for longer logs than it measured', async () => {
    const scale: Scale = { ...TINY, longEvents: 400 }
    const rowsOf = async (name: Scale['name']): Promise<ReadonlyMap<string, string>> => {
      const options = { backends: [fixture('jsonl-column-harness.js')], scenarios: ['replay', 'create'] }
      const report = await runBench({ ...options, scale: { ...scale, name } })
      return new Map(backendRows(report).map(({ id, verdict }) => [id, verdict.kind]))
    }
    const quick = await rowsOf('quick')
    expect([quick.get('replay/delta'), quick.get('create')]).toEqual(['none', expect.not.stringMatching('none')])
    expect((await rowsOf('full')).get('replay/delta')).not.toBe('none')
  })

  it('refuses an unknown scenario and an unknown backend before anything is measured', async () => {
    await expect(runBench({ scenarios: ['speed'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(runBench({ backends: ['floppy'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(runBench({ backends: [fixture('no-such-module.js')] })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await fs.readdir(scratch)).toEqual([])
  })

  it('measures a backend given by a harness module', async () => {
    const report = await runBench({ backends: [fixture('harness.js')], scenarios: ['append'], scale: TINY })
    expect(report.failures).toEqual([])
    expect(new Set(backendRows(report).map(({ backend }) => backend))).toEqual(new Set(['third-party']))
  })

  it('names the scenario in which a backend failed, and keeps the others', async () => {
    const report = await runBench({
      backends: [fixture('failing-harness.js')],
      scenarios: ['append', 'create'],
      scale: TINY,
    })
    expect(report.partial).toBe(true)
    expect(report.failures).toEqual([{ scenario: 'append', code: 'NO_SPACE', message: 'the disk is full' }])
    expect(backendRows(report).map(({ id }) => id)).toEqual(['create'])
    expect(terminalReport(report)).toContain('Partial run')
  })

  it('keeps what the other backends gave when one of them fails', async () => {
    const report = await runBench({
      backends: ['memory', fixture('failing-harness.js'), fixture('harness.js')],
      scenarios: ['append'],
      scale: TINY,
    })
    expect(report.partial).toBe(true)
    expect(report.failures).toEqual([
      { scenario: 'append', backend: 'failing', code: 'NO_SPACE', message: 'the disk is full' },
    ])
    const measured = report.rows.filter(({ id }) => id === 'append/1').map(({ backend, through }) => [backend, through])
    expect(measured).toEqual([
      ['bare S', 'none'],
      ['bare W', 'none'],
      ['naive', 'none'],
      ['memory', 'session'],
      ['memory', 'port'],
      ['third-party', 'session'],
    ])
  })

  it('leaves out a backend that cannot be opened, and fails only when none can', async () => {
    const scenarios = ['create']
    const unopenable = fixture('unopenable-harness.js')
    const report = await runBench({ backends: [unopenable, 'memory'], scenarios, scale: TINY })
    expect(report.failures).toEqual([
      { scenario: 'opening', backend: 'unopenable', code: 'PERMISSION_DENIED', message: 'no way in' },
    ])
    expect(new Set(backendRows(report).map(({ backend }) => backend))).toEqual(new Set(['memory']))
    await expect(runBench({ backends: [unopenable], scenarios, scale: TINY })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    expect(await fs.readdir(scratch)).toEqual([])
  })

  it.each([
    ['nothing-harness.js', 'createMedium of nothing gave no medium'],
    ['throwing-harness.js', 'throwing: no error at all'],
  ])('says what is wrong with %s', async (name, why) => {
    await expect(runBench({ backends: [fixture(name)], scenarios: ['create'], scale: TINY })).rejects.toThrow(why)
    expect(await fs.readdir(scratch)).toEqual([])
  })

  it('measures every scenario on a backend of files, from end to end', { timeout: 120_000 }, async () => {
    const report = await runBench({ backends: ['jsonl-packed'], scale: TINY })
    expect(report.failures).toEqual([])
    // Whatever has a goal has a row, but for what needs other stores or another program.
    const rows = new Set(backendRows(report).map(({ id }) => id))
    const held = GOAL_LINES.filter((line) => limitOf(line, { column: 'jsonl', packs: true }) !== undefined)
    const missing = held.map(({ row }) => row).filter((row) => !rows.has(row) && !/^(ahead|syncs)\//.test(row))
    expect(missing).toEqual([])
    expect(report.scenarios.every(({ seconds = 0 }) => seconds > 0)).toBe(true)
    expect(await fs.readdir(scratch)).toEqual([])
  })

  it('keeps what it has when it is interrupted', async () => {
    const abort = new AbortController()
    const report = await runBench({
      backends: ['memory'],
      scenarios: ['create', 'replay'],
      scale: TINY,
      signal: abort.signal,
      progress: (text) => {
        if (text.startsWith('storing')) abort.abort(new Error('interrupted'))
      },
    })
    expect(backendRows(report).map(({ id }) => id)).toEqual(['create'])
    expect(report.failures).toEqual([{ scenario: 'replay', message: 'interrupted' }])
  })
})
