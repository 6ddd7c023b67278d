// Proves that every real log obeys the grammar and the schemas, is stored by a persistence, and that exporting it and
// importing the export gives equal events.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AnySessionEvent,
  eventJson,
  isCoreType,
  type Json,
  losslessCopy,
  openMemory,
  validateCoreEvent,
} from '@session-persistence/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportSession, type ImportedLog, importFile, readLogs } from '../../src/index.ts'
import { corpusFiles, corpusName, hasCorpus } from './corpus-files.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'interchange-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function allEvents({ events }: Pick<ImportedLog, 'events'>): Promise<AnySessionEvent[]> {
  const all: AnySessionEvent[] = []
  for await (const page of events) all.push(...page)
  return all
}

const files = [...corpusFiles('dsh'), ...corpusFiles('claude-code')]

describe.skipIf(!hasCorpus)('round trip of real logs (skipped when the corpus is not beside the checkout)', () => {
  it.each(files.map((path) => [corpusName(path), path]))('%s', async (_, path) => {
    await using persistence = await openMemory()
    await using second = await openMemory()
    const { sessions } = await importFile(persistence, path)
    expect(sessions.length).toBeGreaterThan(0)
    const logs = new Map<string, AnySessionEvent[]>()
    for await (const log of readLogs(path)) logs.set(log.header.id, await allEvents(log))
    expect([...logs.keys()]).toEqual(sessions.map((session) => session.id))
    for (const { id, header, report, outcome } of sessions) {
      expect(outcome).toBe('imported')
      const events = logs.get(id) ?? []
      expect(report.events).toBe(events.length)
      expect(report.lines).toBeGreaterThan(0)
      for (const { type, data } of events)
        if (isCoreType(type)) validateCoreEvent(type, losslessCopy(data).value as Json)
      const file = join(directory, 'export.jsonl')
      let text = ''
      for await (const chunk of exportSession(persistence, id)) text += chunk
      await writeFile(file, text)
      expect((await importFile(persistence, file)).sessions).toMatchObject([{ id, outcome: 'unchanged' }])
      expect((await importFile(second, file)).sessions).toMatchObject([{ id, outcome: 'imported', header }])
      const again = await allEvents(await second.exportLog(id))
      expect(again.map(eventJson)).toEqual(events.map(eventJson))
    }
  })

  it('stores the whole corpus in one place, however many files share an id', async () => {
    await using persistence = await openMemory()
    const ids = new Set<string>()
    let sessions = 0
    for (const path of files) {
      for (const { id, outcome } of (await importFile(persistence, path)).sessions) {
        if (outcome === 'imported') sessions++
        ids.add(id)
      }
    }
    expect(ids.size).toBe(sessions)
    for (const path of files) {
      const { sessions: again } = await importFile(persistence, path)
      expect(again.every(({ outcome }) => outcome === 'unchanged')).toBe(true)
    }
  })
})
