// Proves that a run measures what was asked for, keeps what it has when something fails, and leaves nothing behind.
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
    expect(report.failures).toEqual([{ scenario: 'append', message: 'the disk is full' }])
    expect(backendRows(report).map(({ id }) => id)).toEqual(['create'])
    expect(terminalReport(report)).toContain('Partial run')
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
