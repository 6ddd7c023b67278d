// Proves, for every backend: a copy of a log that something else cut knows what the log is short of, so that a resume of the
// copy calls no tool `not-started` that may have run.
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogSource, openMemory, type SessionPersistence } from '@session-persistence/core'
import { openJsonl } from '@session-persistence/jsonl'
import { openJsonlZstd } from '@session-persistence/jsonl-zstd'
import { openSqlite } from '@session-persistence/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { convertSessions } from '../src/index.ts'

const PLACE = { turn: 1, step: 1 } as const
const CALL = { callId: 'c', name: 'pay', arguments: {} }

let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'copy-of-a-cut-log-'))
})
afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

/** A log whose last event, the beginning of a call, was cut behind the answer that asks for it; `all`: every event was. */
async function cutLog(what: 'last' | 'all' = 'last'): Promise<SessionPersistence> {
  const persistence = await openJsonl({ root: join(root, 'source') })
  const session = await persistence.create({ id: 's', labels: { of: 'header' } })
  session.append('turn/start', { turn: 1 })
  session.append('user/message', { turn: 1, message: { role: 'user', content: 'pay' } })
  session.append('step/start', PLACE)
  session.append('assistant/message', { ...PLACE, message: { role: 'assistant', content: '' }, toolCalls: [CALL] })
  await session.flush()
  session.append('tool/call', { ...PLACE, ...CALL })
  await session.close()
  const path = join(root, 'source', 's', 'session.jsonl')
  const bytes = await readFile(path)
  const end = what === 'last' ? bytes.lastIndexOf(0x0a, bytes.length - 2) : bytes.indexOf(0x0a)
  await truncate(path, end + 1)
  return persistence
}

const EXPECTED = { last: { from: 4, to: 4 }, all: { from: 0, to: 4 } } as const

const backends: readonly (readonly [string, (place: string) => Promise<SessionPersistence>])[] = [
  ['jsonl', (place) => openJsonl({ root: place })],
  ['jsonl-zstd', (place) => openJsonlZstd({ root: place })],
  ['sqlite', (place) => openSqlite({ file: `${place}.db` })],
  ['memory', () => openMemory()],
]

describe.each(backends)('into %s', (_, open) => {
  it.each(['last', 'all'] as const)('a conversion keeps what is known of the %s event', async (what) => {
    const from = await cutLog(what)
    expect((await from.inspect('s')).recovery.missing).toEqual(EXPECTED[what])
    const to = await open(join(root, 'target'))
    for await (const session of convertSessions(from, to)) {
      expect(session).toMatchObject({ outcome: 'converted', missing: EXPECTED[what] })
    }
    expect((await to.inspect('s')).recovery.missing).toEqual(EXPECTED[what])
    // And from there on.
    const again = await openMemory()
    await again.importLog(await to.exportLog('s'))
    expect((await again.inspect('s')).recovery.missing).toEqual(EXPECTED[what])
    for (const persistence of [from, to, again]) await persistence.close()
  })

  it('the call that may have run is not called one that did not', async () => {
    const from = await cutLog()
    const to = await open(join(root, 'target'))
    await to.importLog(await from.exportLog('s'))
    // What a listing shows is told by the copy's own events.
    expect((await to.list()).sessions[0]).toMatchObject({ id: 's', turns: 1, labels: { of: 'header' } })
    const session = await to.resume('s')
    expect(session.recovery?.openCalls).toMatchObject([{ callId: 'c', tier: 'outcome-unknown' }])
    await session.close()
    expect((await to.inspect('s')).recovery.missing).toBeUndefined()
    expect((await to.exportLog('s')).knownHead).toBeUndefined()
    await to.close()
    await from.close()
  })
})

describe('what a source says of its end', () => {
  it.each([
    ['no object', 5],
    ['no seq', { crc: '0a1b2c3d' }],
    ['no checksum', { seq: 3 }],
    ['a seq that is none', { seq: 1.5, crc: '0a1b2c3d' }],
  ])('is refused as %s', async (_, knownHead) => {
    const from = await cutLog()
    const to = await openMemory()
    const source = { ...(await from.exportLog('s')), knownHead } as unknown as LogSource
    await expect(to.importLog(source)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect((await to.list()).sessions).toEqual([])
    await from.close()
  })

  it('is silent for a log that is whole', async () => {
    const from = await cutLog()
    await (await from.resume('s')).close()
    expect((await from.exportLog('s')).knownHead).toBeUndefined()
    await from.close()
  })
})
