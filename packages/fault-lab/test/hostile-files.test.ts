// Proves that a hostile file gives a typed error or what was stored, for little work and little memory.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  HOSTILE_DATABASES,
  HOSTILE_FRAMES,
  HOSTILE_LOGS,
  HOSTILE_PLACES,
  type HostileFile,
  openHostile,
  plantHostile,
  REAL_BACKENDS,
  report,
  WHOLE,
} from '../src/index.ts'
import { sessionsIn } from '../src/scenario/sessions-directory.ts'
import { scratchDirectory } from './parts/scratch.ts'

const FILES = [...HOSTILE_LOGS, ...HOSTILE_FRAMES, ...HOSTILE_DATABASES, ...HOSTILE_PLACES].filter(({ backend }) =>
  REAL_BACKENDS.includes(backend),
)

const WORK_MS_MAX = 200
/** A machine that others use counts more time for the same work: as much as this many times reading a whole batch. */
const READS_MAX = 4
const READ_BYTES = 104 * 1024 * 1024
const GROWN_BYTES_MAX = 64 * 1024 * 1024
/** The collector, the compiler or a busy machine may have its turn in any of them. */
const TRIES = 10

/** Milliseconds of work that it takes to read as much as the largest batch has. */
function readingMs(): number {
  const path = join(scratchDirectory(), 'zeros')
  writeFileSync(path, '')
  truncateSync(path, READ_BYTES)
  const started = process.cpuUsage()
  readFileSync(path)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

async function problemOf(file: HostileFile): Promise<string | undefined> {
  const directory = scratchDirectory()
  await plantHostile(file, directory)
  let problem: string | undefined
  for (let tries = 0; tries < TRIES; tries++) {
    const { outcome, workMs, grownBytes = 0 } = await openHostile(file.backend, directory)
    const isWrong = typeof outcome === 'object' && 'problem' in outcome && file.unguarded !== true
    if (isWrong) return outcome.problem
    if (JSON.stringify(outcome).includes('without a type')) return JSON.stringify(outcome)
    problem = undefined
    if (workMs > WORK_MS_MAX && workMs > READS_MAX * readingMs()) problem = `${Math.round(workMs)} ms of work`
    if (grownBytes > GROWN_BYTES_MAX) problem = `${Math.round(grownBytes / 1024 / 1024)} MiB`
    if (problem === undefined) return undefined
  }
  return problem
}

describe('hostile files', { timeout: 120_000 }, () => {
  it.each(FILES.map((file) => [`${file.backend}, ${file.name}`, file] as const))('%s', async (_, file) => {
    expect(await problemOf(file)).toBeUndefined()
  })

  it('are as many as they should be', () => {
    for (const backend of REAL_BACKENDS) {
      const files = FILES.filter((file) => file.backend === backend).length
      report(`hostile files: ${backend}`, { files, violations: 0 })
    }
    if (REAL_BACKENDS.length === 3) expect(FILES.length).toBeGreaterThanOrEqual(WHOLE.hostileFiles)
  })

  it('cost a careless reader more than that', async () => {
    const bomb = HOSTILE_LOGS.find(({ name }) => name === 'a line of 512 MB behind the log')
    if (bomb === undefined) throw new Error('the bomb is gone')
    const directory = scratchDirectory()
    await plantHostile(bomb, directory)
    const careless = async (): Promise<'stored'> => {
      readFileSync(join(sessionsIn(directory), 'session/session.jsonl')).indexOf(1)
      return 'stored'
    }
    const { grownBytes = GROWN_BYTES_MAX + 1 } = await openHostile('jsonl', directory, careless)
    expect(grownBytes).toBeGreaterThan(GROWN_BYTES_MAX)
  })
})
