// Proves that no id leads outside the root, meets the session of another id, or fails without a type.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { HOSTILE_IDS, openReal, REAL_BACKENDS, readSession, report, sampleHeader, WHOLE } from '../src/index.ts'
import { SESSIONS_DIRECTORY } from '../src/scenario/sessions-directory.ts'
import { scratchDirectory } from './parts/scratch.ts'

describe.each(REAL_BACKENDS)('%s', { timeout: 240_000 }, (backend) => {
  it('stores every id in a place of its own, or refuses it', async () => {
    const outer = scratchDirectory('memory')
    const storage = openReal(backend, outer)
    const stored: string[] = []
    for (const [index, id] of HOSTILE_IDS.entries()) {
      try {
        const writer = await storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
        await writer.append([{ seq: 0, time: index, type: 'turn/start', data: { turn: 1 } }])
        await writer.close()
        stored.push(id)
      } catch (error) {
        expect(isSessionError(error) && error.code, JSON.stringify(id)).toBe('INVALID_ID')
      }
    }
    expect(readdirSync(outer)).toEqual([SESSIONS_DIRECTORY])
    const listed = await storage.list({ limit: 10_000 })
    expect(listed.map(({ id }) => id).sort()).toEqual([...stored].sort())
    for (const id of stored) {
      expect((await readSession(storage, id))?.[0]?.time, JSON.stringify(id)).toBe(HOSTILE_IDS.indexOf(id))
      expect(await storage.delete(id)).toBe(true)
    }
    expect(await storage.list({ limit: 10 })).toEqual([])
    await storage.close()
    expect(stored.length).toBeGreaterThan(HOSTILE_IDS.length / 2)
    report(`hostile ids: ${backend}`, { ids: HOSTILE_IDS.length, violations: 0 })
    expect(HOSTILE_IDS.length).toBeGreaterThanOrEqual(WHOLE.hostileIds)
  })
})

it('lead out of the root where an id is used as it is', () => {
  const root = '/somewhere/root'
  const outside = HOSTILE_IDS.filter((id) => !join(root, id).startsWith(`${root}/`))
  expect(outside).toContain('../../x')
  const names = HOSTILE_IDS.map((id) => id.normalize('NFC').toLowerCase())
  expect(new Set(names).size).toBeLessThan(HOSTILE_IDS.length)
})
