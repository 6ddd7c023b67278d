// Proves: a log goes from one persistence to another event for event, whole or not at all, and older formats are upgraded.
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import type { SessionHeader } from '../../src/event/header.ts'
import { openMemory } from '../../src/persistence/open-memory.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { createMemoryMedium } from '../../src/storage/memory-medium.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import { gatedStorage } from '../storage/gated-storage.ts'
import { collect, completeTurn, turnUpToCall, user } from './conversation.ts'

describe('importLog and exportLog', () => {
  it('keep header and events equal', async () => {
    const from = await openMemory()
    const session = await from.create({ id: 'copied', cwd: '/work', labels: { a: 'b' } })
    turnUpToCall(session)
    await session.flush()
    const to = await openMemory()
    const imported = await to.importLog(await from.exportLog('copied'))
    expect(imported).toMatchObject({ id: 'copied', events: 6, head: await session.flush() })
    expect(await collect(to.read('copied'))).toEqual(await collect(from.read('copied')))
    expect((await to.inspect('copied')).header).toEqual(session.header)
    await expect(to.importLog(await from.exportLog('copied'))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  })

  it('refuse a log that breaks the grammar or the numbering, and leave nothing', async () => {
    const header = { version: 1, id: 'bad', createdAt: 1, messageFormat: 'plain' }
    const message = { message: user('x') }
    const bad: AnySessionEvent[][] = [
      [{ seq: 1, time: 1, type: 'user/message', data: message }],
      [
        { seq: 0, time: 1, type: 'user/message', data: message },
        { seq: 1, time: 1, type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } },
      ],
      [{ seq: 0, time: 1, type: 'user/message', data: { message: new Date(0) } }],
    ]
    const persistence = await openMemory()
    for (const events of bad) {
      const source = {
        header,
        events: (async function* () {
          yield events
        })(),
      }
      await expect(persistence.importLog(source)).rejects.toMatchObject({ sessionId: 'bad' })
    }
    const newer = { header: { ...header, version: 2 }, events: (async function* () {})() }
    await expect(persistence.importLog(newer)).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION', sessionId: 'bad' })
    await expect(persistence.importLog({} as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect((await persistence.list()).sessions).toEqual([])
    await (await persistence.create({ id: 'bad' })).close()
  })
})

describe('an older format', () => {
  const steps = [
    {
      from: 0,
      header: (header: SessionHeader) => header,
      event: (event: AnySessionEvent) => (event.type === 'message/user' ? { ...event, type: 'user/message' } : event),
    },
  ]

  it('is upgraded in memory by readers, and on the medium by a resume that keeps the original', async () => {
    const medium = createMemoryMedium()
    const storage = memoryStorage(medium)
    const writer = await storage.openWriter('old', {
      kind: 'create',
      header: { version: 0, id: 'old', createdAt: 1, messageFormat: 'plain' },
    })
    await writer.append([{ seq: 0, time: 1, type: 'message/user', data: { message: user('x') } }])
    await writer.close()
    const persistence = createPersistence(memoryStorage(medium), {}, steps)
    expect((await collect(persistence.read('old')))[0]?.type).toBe('user/message')
    const view = await persistence.inspect('old')
    expect(view.messages()).toEqual([user('x')])
    expect(view.recovery.upgraded).toEqual({ from: 0, to: 1 })
    expect(medium.logs.get('old')?.header.version).toBe(0)
    const session = await persistence.resume('old')
    expect(session.recovery?.upgraded).toMatchObject({ from: 0, to: 1 })
    expect(session.header.version).toBe(1)
    expect(medium.logs.get('old')?.originals.get('v0')?.header.version).toBe(0)
    await session.close()
    expect((await persistence.inspect('old')).recovery.upgraded).toBeUndefined()
  })

  it('ahead of this program is refused on every entry point, with both numbers, and nothing is written', async () => {
    const medium = createMemoryMedium()
    const writer = await memoryStorage(medium).openWriter('new', {
      kind: 'create',
      header: { version: 2, id: 'new', createdAt: 1, messageFormat: 'plain' },
    })
    await writer.append([{ seq: 0, time: 1, type: 'user/message', data: { message: user('x') } }])
    await writer.close()
    const persistence = await openMemory({ medium })
    const refused = { code: 'UNSUPPORTED_VERSION', expected: 1, found: 2 }
    await expect(persistence.resume('new')).rejects.toMatchObject(refused)
    await expect(persistence.inspect('new')).rejects.toMatchObject(refused)
    await expect(collect(persistence.read('new'))).rejects.toMatchObject(refused)
    await expect(persistence.annotate('new', { title: 't' })).rejects.toMatchObject(refused)
    await expect(persistence.fork('new')).rejects.toMatchObject(refused)
    expect(medium.logs.get('new')?.events.length).toBe(1)
  })
})

describe('snapshots', () => {
  it('make a resume fold the suffix only, and are ignored when the log is another', async () => {
    const medium = createMemoryMedium()
    const persistence = await openMemory({ medium })
    const session = await persistence.create({ id: 'long' })
    for (let turn = 1; turn <= 200; turn++) completeTurn(session, turn, `q${turn}`, `a${turn}`)
    await session.close()
    const log = medium.logs.get('long')
    expect(log?.derived.has('snapshots')).toBe(true)
    const before = (await persistence.inspect('long')).messages()
    expect(before.length).toBe(400)
    // Events behind the snapshot are not read again: one that is missing is not noticed by a resume...
    const kept = log?.events.slice() ?? []
    if (log !== undefined) log.events[10] = { ...kept[10], seq: 999 } as never
    expect((await persistence.inspect('long')).messages()).toEqual(before)
    // ...while a verify, which folds from the start, finds it.
    expect((await persistence.verify('long')).problems).toMatchObject([{ code: 'CORRUPT', seq: 10 }])
    if (log !== undefined) log.events.splice(0, log.events.length, ...kept)
    // A snapshot in which a bit flipped counts for nothing...
    const snapshot = log?.derived.get('snapshots') ?? ''
    log?.derived.set('snapshots', snapshot.replace('"q100"', '"q101"'))
    expect((await persistence.inspect('long')).messages()).toEqual(before)
    // ...and neither does a sound one of another log.
    const other = await persistence.create({ id: 'other' })
    for (let turn = 1; turn <= 200; turn++) completeTurn(other, turn, 'q', 'a')
    await other.close()
    log?.derived.set('snapshots', medium.logs.get('other')?.derived.get('snapshots') ?? '')
    expect((await persistence.inspect('long')).messages()).toEqual(before)
  })
})

describe('a page of a source', () => {
  it('is split into batches that stay under the limit, whatever its size', async () => {
    const { storage, gate } = gatedStorage()
    const text = 'x'.repeat(1024 * 1024)
    const events = Array.from({ length: 40 }, (_, seq) => ({
      seq,
      time: 1,
      type: 'user/message',
      data: { message: user(text) },
    }))
    const header = { version: 1, id: 'large', createdAt: 1, messageFormat: 'plain' }
    const source = {
      header,
      events: (async function* () {
        yield events
      })(),
    }
    expect((await createPersistence(storage).importLog(source)).events).toBe(40)
    expect(gate.batches).toEqual([15, 15, 10])
  })
})
