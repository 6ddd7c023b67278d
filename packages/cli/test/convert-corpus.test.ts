// Proves that real logs of other harnesses survive jsonl -> jsonl-zstd -> sqlite -> jsonl with equal events and an equal
// digest.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importFile } from '@session-persistence/interchange'
import { convertSessions, eventJson, openPersistence, type SessionPersistence } from 'session-persistence'
import { describe, expect, it } from 'vitest'
import { filesOf } from './support/corpus-files.ts'
import { isPresent } from './support/file-backends.ts'

const corpus = fileURLToPath(new URL('../../../../shared/corpus', import.meta.url))

async function eventsOf(persistence: SessionPersistence, id: string): Promise<string[]> {
  const events: string[] = []
  for await (const event of persistence.read(id)) events.push(eventJson(event))
  return events
}

describe('real logs', () => {
  if (!existsSync(corpus)) it.skip('are not looked at: ../shared/corpus is absent', () => undefined)

  if (!isPresent('sqlite')) it.skip('do not go through SQLite: better-sqlite3 cannot be loaded', () => undefined)

  it.runIf(existsSync(corpus)).each([
    ['dsh', 12],
    ['claude-code', 8],
  ])('of %s survive every backend', { timeout: 600_000 }, async (folder, number) => {
    const directory = await mkdtemp(join(tmpdir(), 'session-persistence-convert-'))
    try {
      await using source = await openPersistence(`jsonl:${directory}/first`)
      await using second = await openPersistence(`jsonl-zstd:${directory}/second`)
      await using third = await openPersistence(`${isPresent('sqlite') ? 'sqlite' : 'jsonl-zstd'}:${directory}/third`)
      await using fourth = await openPersistence(`jsonl:${directory}/fourth`)
      for (const name of filesOf(join(corpus, folder), number)) await importFile(source, join(corpus, folder, name))

      const digests: Map<string, string>[] = []
      let from = source
      for (const to of [second, third, fourth]) {
        const found = new Map<string, string>()
        for await (const session of convertSessions(from, to)) {
          if (session.outcome === 'failed') throw session.error
          expect(session.outcome).toBe('converted')
          found.set(session.id, session.digest ?? '')
        }
        digests.push(found)
        from = to
      }
      expect(digests[0]?.size).toBeGreaterThanOrEqual(number)
      expect(digests[1]).toEqual(digests[0])
      expect(digests[2]).toEqual(digests[0])
      for (const id of digests[0]?.keys() ?? [])
        expect(await eventsOf(from, id), id).toEqual(await eventsOf(source, id))
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
