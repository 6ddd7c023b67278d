// Proves that every backend keeps the clauses of the tiers io and power, on real system calls and, where it takes a
// file-system port, on the model; that a weak one does not; and that where they cannot be tried nothing is said to be.
import { type ConformanceReport, type Harness, runConformance, systemCallTiers } from '@session-persistence/conformance'
import { openMemory } from '@session-persistence/core'
import { openJsonl } from '@session-persistence/jsonl'
import { openJsonlZstd } from '@session-persistence/jsonl-zstd'
import { describe, expect, it } from 'vitest'
import { harness as jsonl } from '../../jsonl/test/conformance-harness.mjs'
import { harness as jsonlZstd } from '../../jsonl-zstd/test/conformance-harness.mjs'
import { harness as sqlite } from '../../sqlite/test/conformance-harness.mjs'
import {
  fileSystemTiers,
  IS_WHOLE,
  isInstalled,
  type OpenOnPort,
  REAL_BACKENDS,
  report,
  SCALE,
  SEED,
  WEAKNESSES,
  type Weakness,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const BACKENDS = {
  jsonl: (fileSystem, root, options) => openJsonl({ ...options, fileSystem, root }),
  'jsonl-zstd': (fileSystem, root, options) => openJsonlZstd({ ...options, fileSystem, root }),
} satisfies Record<string, OpenOnPort>

const HARNESSES = { jsonl, 'jsonl-zstd': jsonlZstd, sqlite } as const

async function run(harness: Harness, openOnPort: OpenOnPort | undefined): Promise<ConformanceReport> {
  const effort = IS_WHOLE ? 'full' : 'quick'
  const extensions = fileSystemTiers(openOnPort)
  return await runConformance(harness, { families: ['IO', 'POWER'], extensions, effort, seed: SEED })
}

describe.each(Object.entries(BACKENDS))('%s', { timeout: 900_000 }, (name, openOnPort) => {
  const open = name === 'jsonl' ? openJsonl : openJsonlZstd
  const createMedium = (): ReturnType<Harness['createMedium']> => {
    const root = scratchDirectory('memory')
    return { open: (options) => open({ ...options, root }) }
  }

  it('keeps every clause', async () => {
    const found = await run({ name, createMedium }, openOnPort)
    expect(found.results.filter(({ status }) => status !== 'passed')).toEqual([])
    const of = (tier: string): number => found.results.filter((result) => result.tier === tier).length
    expect([of('io'), of('power')]).toEqual([4, 3])
    report(`conformance tiers, modelled: ${name}`, { clauses: found.results.length, violations: 0 })
  })

  it.each(['drop the sync of an append', 'drop the directory fsync', 'believe a repeated sync'])(
    'sees a backend that would %s',
    async (weakness) => {
      const weaken: Weakness = WEAKNESSES[weakness] ?? ((it) => it)
      const weak: OpenOnPort = (fileSystem, root, options) => openOnPort(weaken(fileSystem), root, options)
      const found = await run({ name, createMedium }, weak)
      expect(found.results.filter(({ status }) => status === 'failed')).not.toEqual([])
    },
  )
})

describe.runIf(isInstalled('strace'))('on real system calls (needs strace)', { timeout: 1_800_000 }, () => {
  // Every call of these backends is struck by a suite of its own; here it is how a stranger would find it.
  const effort = SCALE >= 10 ? 'full' : 'quick'
  const options = { families: ['IO', 'POWER'], extensions: systemCallTiers, seed: SEED } as const

  // One of those that make their calls in the same package stands for both, and SQLite makes five times as many: all in a whole run. The suite
  // of errors strikes all of them in every run.
  it.each(IS_WHOLE ? REAL_BACKENDS : (['jsonl'] as const))('%s keeps every clause', async (backend) => {
    const harness = HARNESSES[backend]
    const found = await runConformance(harness, { ...options, effort })
    expect(found.results.filter(({ status }) => status !== 'passed').map(({ message }) => message)).toEqual([])
    const tried = new Map<string, number>()
    for (const result of found.results) {
      for (const [what, count] of Object.entries(result.tried ?? {})) tried.set(what, (tried.get(what) ?? 0) + count)
    }
    expect([...tried.keys()].sort()).toEqual([
      'crash states',
      'failing calls',
      'failing syncs',
      'power cuts',
      'recoveries',
    ])
    const counts = Object.fromEntries([...tried].sort())
    report(`conformance tiers, system calls: ${backend}`, { clauses: found.results.length, ...counts, violations: 0 })
  })

  it.each([
    ['drop the sync of an append', 'POWER-1'],
    ['drop the directory fsync', 'POWER-1'],
    ['acknowledge before the write', 'POWER-1'],
    ['repeat a sync that failed', 'IO-4'],
    ['believe a repeated sync', 'IO-1'],
  ])('sees a backend that would %s, by %s', async (weakness, id) => {
    const module = new URL(`./parts/weak-harness.mjs?weakness=${weakness}`, import.meta.url).href
    const found = await runConformance({ ...HARNESSES.jsonl, module }, { ...options, effort: 'full', ids: [id] })
    expect(found.harnessError).toBeUndefined()
    expect(found.results.map(({ status }) => status)).toEqual(['failed'])
    report(`seeded bugs: ${weakness}`, { caught: 1 })
  })
})

it.skipIf(isInstalled('strace'))('tiers io and power by system calls: not exercised, strace is not installed', () => {})

it('says of a backend without a file-system port that the tiers were not exercised', async () => {
  const found = await run(
    { name: 'memory', createMedium: () => ({ open: (options) => openMemory(options) }) },
    undefined,
  )
  expect(found.counts).toMatchObject({ passed: 0, failed: 0 })
  expect(new Set(found.results.map(({ status }) => status))).toEqual(new Set(['skipped']))
})
