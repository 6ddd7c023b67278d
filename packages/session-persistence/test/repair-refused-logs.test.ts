// Proves, for every backend with a repair: a log whose bytes are sound and whose grammar is not is repaired like a damaged one, and only such a log.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AnySessionEvent,
  createPersistence,
  FORMAT_VERSION,
  openMemory,
  type SessionPersistence,
  type SessionStorage,
} from '@session-persistence/core'
import { jsonlStorage } from '@session-persistence/jsonl'
import { jsonlZstdStorage } from '@session-persistence/jsonl-zstd'
import { sqliteStorage } from '@session-persistence/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

async function eventsOf(persistence: SessionPersistence): Promise<readonly AnySessionEvent[]> {
  const events: AnySessionEvent[] = []
  for await (const event of persistence.read('s')) events.push(event)
  return events
}

/** Three turns, each with a call, a run of deltas and an answer: 15 events a turn. */
async function conversation(): Promise<readonly AnySessionEvent[]> {
  const persistence = await openMemory()
  const session = await persistence.create({ id: 's' })
  for (const turn of [1, 2, 3]) {
    const [asking, answering] = [{ turn, step: 1 } as const, { turn, step: 2 } as const]
    const call = { callId: 'a', name: 'count', arguments: {} }
    session.append('turn/start', { turn })
    session.append('user/message', { turn, message: { role: 'user', content: `question ${turn}` } })
    session.append('step/start', asking)
    session.append('assistant/message', { ...asking, message: { role: 'assistant', content: '' }, toolCalls: [call] })
    session.append('tool/call', { ...asking, ...call })
    session.append('tool/result', { ...asking, callId: 'a', message: { role: 'tool', callId: 'a', content: '12' } })
    session.append('step/end', asking)
    session.append('step/start', answering)
    for (const text of 'abcd') session.append('assistant/chunk', { ...answering, kind: 'text', index: 0, text })
    const message = { role: 'assistant', content: 'abcd' }
    session.append('assistant/message', { ...answering, message, toolCalls: [] })
    session.append('step/end', answering)
    session.append('turn/end', { turn, reason: { kind: 'completed' } })
  }
  await session.close()
  return eventsOf(persistence)
}

const EVENTS = await conversation()
const TURN_EVENTS = EVENTS.length / 3

function changed(seq: number, change: (event: AnySessionEvent) => AnySessionEvent): readonly AnySessionEvent[] {
  return EVENTS.map((event) => (event.seq === seq ? change(event) : event))
}

function removed(seq: number): readonly AnySessionEvent[] {
  return EVENTS.filter((event) => event.seq !== seq).map((event, index) => ({ ...event, seq: index }))
}

const numbered = (turn: number) => (event: AnySessionEvent) => ({ ...event, data: { ...(event.data as object), turn } })

interface Edited {
  readonly events: readonly AnySessionEvent[]
  /** The first event that cannot stay. */
  readonly seq: number
  /** Events given up, at most. */
  readonly most: number
}

const EDITED: readonly (readonly [what: string, edited: Edited])[] = [
  ['the number of a turn', { events: changed(TURN_EVENTS, numbered(7)), seq: TURN_EVENTS, most: 1 }],
  ['the number of the turn of a delta', { events: changed(9, numbered(2)), seq: 9, most: 1 }],
  ['the number of the last turn, at its end', { events: changed(EVENTS.length - 1, numbered(2)), seq: 44, most: 1 }],
  // The first that misses it gives its place to it.
  ['a removed start of a step', { events: removed(TURN_EVENTS + 7), seq: TURN_EVENTS + 7, most: 1 }],
  ['a removed end of a turn', { events: removed(TURN_EVENTS - 1), seq: TURN_EVENTS - 1, most: 2 }],
  ['a removed result of a call', { events: removed(TURN_EVENTS + 5), seq: TURN_EVENTS + 5, most: 3 }],
  ['a removed answer that asked for a call', { events: removed(3), seq: 3, most: 2 }],
]

const STORES: readonly (readonly [name: string, open: (directory: string) => SessionStorage])[] = [
  ['plain lines', (root) => jsonlStorage({ root, durability: 'process' })],
  ['lines without checksums', (root) => jsonlStorage({ root, durability: 'process', checksum: 'none' })],
  ['packed lines', (root) => jsonlStorage({ root, durability: 'process', pack: true })],
  ['frames', (root) => jsonlZstdStorage({ root, durability: 'process' })],
  ['a database', (root) => sqliteStorage({ file: join(root, 'sessions.db') })],
]

describe.each(STORES)('of %s', (_, open) => {
  let root: string
  let storage: SessionStorage
  let persistence: SessionPersistence

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'repair-refused-'))
    storage = open(root)
    persistence = createPersistence(storage)
  })

  afterEach(async () => {
    await persistence.close()
    await rm(root, { recursive: true, force: true })
  })

  /** As who edits a log writes it: no event is judged, and every checksum is right. */
  async function store(events: readonly AnySessionEvent[]): Promise<void> {
    await persistence.delete('s')
    const header = { version: FORMAT_VERSION, id: 's', createdAt: 1, messageFormat: 'plain' }
    const writer = await storage.openWriter('s', { kind: 'create', header })
    for (let at = 0; at < events.length; at += 7) await writer.append(events.slice(at, at + 7))
    await writer.close()
  }

  it.each(EDITED)('%s is repaired', async (_what, { events, seq, most }) => {
    await store(events)
    const before = await persistence.verify('s')
    expect(before).toMatchObject({ ok: false, events: events.length, problems: [{ code: 'INVALID_EVENT', seq }] })
    await expect(persistence.resume('s')).rejects.toMatchObject({ code: 'INVALID_EVENT', seq })

    const plan = await persistence.repair('s')
    expect(await eventsOf(persistence)).toEqual(events)
    expect(plan.lost[0]).toMatchObject({ code: 'INVALID_EVENT', from: seq })
    expect(plan.lost[0]?.message).toMatch(/cannot follow what stands before/)
    const { originalAt, ...done } = await persistence.repair('s', { dryRun: false })
    expect({ ...done, dryRun: true }).toEqual(plan)
    expect(originalAt).toEqual(expect.any(String))

    expect(await persistence.verify('s')).toMatchObject({ ok: true, events: done.kept, problems: [] })
    const kept = await eventsOf(persistence)
    const gone = events.filter((event) => JSON.stringify(kept[event.seq]) !== JSON.stringify(event))
    expect(gone.length).toBeLessThanOrEqual(most)
    for (const event of gone) {
      const names = ({ from = -1, to = -1, code }: (typeof done.lost)[number]): boolean =>
        code === 'INVALID_EVENT' && from <= event.seq && event.seq <= to
      expect(done.lost.some(names), `event ${event.seq} is gone and nobody says so`).toBe(true)
    }
    expect(await persistence.repair('s', { dryRun: false })).toEqual({
      id: 's',
      dryRun: false,
      kept: done.kept,
      lost: [],
    })
    await (await persistence.resume('s')).close()
  })

  it('is done exactly where a verification finds something, whichever event is removed', async () => {
    for (const { seq } of EVENTS.slice(0, 2 * TURN_EVENTS)) {
      await store(removed(seq))
      const { ok } = await persistence.verify('s')
      const plan = await persistence.repair('s')
      expect([seq, plan.lost.length === 0]).toEqual([seq, ok])
      const done = await persistence.repair('s', { dryRun: false })
      expect([done.kept, done.lost]).toEqual([plan.kept, plan.lost])
      expect(await persistence.verify('s')).toMatchObject({ ok: true, events: done.kept })
    }
  })

  it('keeps a log of which no event can stay, without any', async () => {
    const events = EVENTS.slice(TURN_EVENTS - 1, TURN_EVENTS).map((event) => ({ ...event, seq: 0 }))
    await store(events)
    const plan = await persistence.repair('s')
    expect(plan).toMatchObject({ kept: 0, lost: [{ code: 'INVALID_EVENT', from: 0, to: 0 }] })
    expect(await persistence.repair('s', { dryRun: false })).toMatchObject({ kept: 0, lost: plan.lost })
    expect(await persistence.verify('s')).toMatchObject({ ok: true, events: 0 })
    await (await persistence.resume('s')).close()
  })

  it('leaves a sound log as it is', async () => {
    await store(EVENTS)
    const sound = { id: 's', dryRun: false, kept: EVENTS.length, lost: [] }
    expect(await persistence.repair('s', { dryRun: false })).toEqual(sound)
    expect(await eventsOf(persistence)).toEqual(EVENTS)
  })
})
