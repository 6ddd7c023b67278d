// Proves that the file backends keep the clauses of the tiers io and power, that a weak one does not, and that a backend
// without a file-system port is not said to.
import { type ConformanceReport, type Harness, runConformance } from '@session-persistence/conformance'
import { openMemory } from '@session-persistence/core'
import { openJsonl } from '@session-persistence/jsonl'
import { openJsonlZstd } from '@session-persistence/jsonl-zstd'
import { describe, expect, it } from 'vitest'
import { fileSystemTiers, IS_WHOLE, type OpenOnPort, report, SEED, WEAKNESSES, type Weakness } from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const BACKENDS = {
  jsonl: (fileSystem, root, options) => openJsonl({ ...options, fileSystem, root }),
  'jsonl-zstd': (fileSystem, root, options) => openJsonlZstd({ ...options, fileSystem, root }),
} satisfies Record<string, OpenOnPort>

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
    expect([of('io'), of('power')]).toEqual([3, 3])
    report(`conformance tiers: ${name}`, { clauses: found.results.length, violations: 0 })
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

it('says of a backend without a file-system port that the tiers were not exercised', async () => {
  const found = await run(
    { name: 'memory', createMedium: () => ({ open: (options) => openMemory(options) }) },
    undefined,
  )
  expect(found.counts).toMatchObject({ passed: 0, failed: 0 })
  expect(new Set(found.results.map(({ status }) => status))).toEqual(new Set(['skipped']))
})
