// Proves that real logs of other harnesses go through every backend as `tour FILE` stores them: the same events in each.
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readLogs } from '@session-persistence/interchange'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { measureBackends } from '../src/tour/measure-backend.ts'
import { sampleOf } from '../src/tour/sample-log.ts'

const corpus = fileURLToPath(new URL('../../../../shared/corpus', import.meta.url))
const scale = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)

/** Logs spread evenly over a folder, so that a larger scale takes more of each kind. */
function some(folder: string, number: number): string[] {
  const names = readdirSync(join(corpus, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  const every = Math.max(1, Math.floor(names.length / (number * scale)))
  return names.filter((_, index) => index % every === 0).map((name) => join(folder, name))
}

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'session-persistence-corpus-'))
})
afterEach(() => rm(directory, { recursive: true }))

const present = existsSync(corpus)
const names = present ? [...some('dsh', 5), ...some('claude-code', 5)] : []

describe('real logs', () => {
  if (!present) it.skip('are not looked at: ../shared/corpus is absent', () => undefined)

  it.each(names)('%s', async (name) => {
    for await (const log of readLogs(join(corpus, name))) {
      const sample = await sampleOf(log)
      expect(sample.events).toHaveLength(log.report.events)
      let measured = 0
      const place = (scheme: string): string => join(directory, `${scheme}-${log.header.id.length}-${measured}`)
      for await (const result of measureBackends(sample, place, AbortSignal.timeout(60_000))) {
        if (result.kind !== 'measured') continue
        measured += 1
        expect(result.measurement.store.events).toBe(sample.events.length)
        expect(result.measurement.replay.events % Math.max(1, sample.events.length)).toBe(0)
      }
      expect(measured).toBeGreaterThan(1)
      break // the first session of a file; the importer's own tests take them all
    }
  })
})
