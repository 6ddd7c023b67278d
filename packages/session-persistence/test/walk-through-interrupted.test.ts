// Proves the walk-through "interrupted after a result": what a killed process leaves is resumed with exactly one event
// added, the conversation goes on with continuing seqs, and a log with a hole is refused with both seqs named.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AnySessionEvent,
  createMemoryMedium,
  type EventInput,
  openMemory,
  openPersistence,
  type Session,
  type SessionPersistence,
} from '../src/index.ts'
import { runUntilKilled } from './processes/killed-process.ts'

const id = 'walk-through'
const header = { model: 'model-1', config: { temperature: 0 }, system: 'Be brief.', tools: [{ name: 'look' }] }
const messages = [
  { role: 'user', content: 'What is in the box?' },
  { role: 'assistant', content: 'I will look.' },
  { role: 'tool', content: 'A cat.' },
]
const call = { callId: 'call-1', name: 'look', arguments: { where: 'box' } }
/** What process A writes before it is killed: seqs 0 to 5. */
const written: readonly EventInput[] = [
  { type: 'request/header', data: header },
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'user/message', data: { turn: 1, message: messages[0] } },
  { type: 'assistant/message', data: { turn: 1, message: messages[1], toolCalls: [call] } },
  { type: 'tool/call', data: { turn: 1, ...call } },
  { type: 'tool/result', data: { turn: 1, callId: 'call-1', message: messages[2] } },
]

interface World {
  /** Process A, start to death. */
  interruptedWriter(): Promise<void>
  /** Process B. */
  open(): Promise<SessionPersistence>
  /** Takes the event with seq 3 out of what is stored. */
  loseSeqThree(): Promise<void>
  destroy(): Promise<void>
}

async function jsonlWorld(): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), 'session-persistence-walk-'))
  const location = `jsonl:${root}`
  return {
    async interruptedWriter() {
      const receipts = await runUntilKilled('append-and-wait.mjs', [location, id, JSON.stringify(written)])
      expect(receipts.map((line) => JSON.parse(line).seq)).toEqual([0, 1, 2, 3, 4, 5])
    },
    open: () => openPersistence(location),
    async loseSeqThree() {
      const files = await readdir(root, { recursive: true })
      const log = join(root, files.find((name) => name.endsWith('session.jsonl')) ?? 'missing')
      const lines = (await readFile(log, 'utf8')).split('\n')
      const without = lines.filter((line) => !line.startsWith('{"seq":3,'))
      expect(without).toHaveLength(lines.length - 1)
      await writeFile(log, without.join('\n'))
    },
    destroy: () => rm(root, { recursive: true }),
  }
}

async function memoryWorld(): Promise<World> {
  const medium = createMemoryMedium()
  return {
    async interruptedWriter() {
      const session = await (await openMemory({ medium })).create({ id })
      for (const event of written) {
        session.appendAll([event])
        await session.flush()
      }
      // Nothing more comes from this writer, and its lock is free: all that a death leaves of it.
      await session.abandon()
    },
    open: () => openMemory({ medium }),
    async loseSeqThree() {
      medium.logs.get(id)?.events.splice(3, 1)
    },
    destroy: async () => undefined,
  }
}

async function eventsOf(persistence: SessionPersistence): Promise<AnySessionEvent[]> {
  const events: AnySessionEvent[] = []
  for await (const event of persistence.read(id)) events.push(event)
  return events
}

async function secondTurn(session: Session): Promise<void> {
  const turn = 2
  session.append('turn/start', { turn })
  session.append('user/message', { turn, message: { role: 'user', content: 'And under it?' } })
  session.append('assistant/message', { turn, message: { role: 'assistant', content: 'Dust.' }, toolCalls: [] })
  await session.closeTurn({ reason: { kind: 'completed' } })
}

describe.each([
  ['jsonl', jsonlWorld],
  ['memory', memoryWorld],
] as const)('interrupted after a result, on %s', (_backend, makeWorld) => {
  let world: World
  beforeEach(async () => {
    world = await makeWorld()
    await world.interruptedWriter()
  })
  afterEach(() => world.destroy())

  it('adds exactly one event, the end of the turn as interrupted', async () => {
    await using persistence = await world.open()
    await using session = await persistence.resume(id)
    const stored = await eventsOf(persistence)
    expect(stored.slice(0, 6).map(({ type, data }) => ({ type, data }))).toEqual(written)
    expect(stored.slice(6)).toMatchObject([
      { seq: 6, type: 'turn/end', time: stored[5]?.time, data: { turn: 1, reason: { kind: 'interrupted' } } },
    ])
    expect(session.recovery).toMatchObject({ survived: 6, openTurn: { turn: 1 }, openCalls: [], closed: [{ seq: 6 }] })
  })

  it('adds none when the turn is to be kept open', async () => {
    await using persistence = await world.open()
    await using session = await persistence.resume(id, { openTurn: 'keep' })
    expect(await eventsOf(persistence)).toHaveLength(6)
    expect(session.openTurn).toEqual({ turn: 1 })
    expect(session.recovery?.closed).toEqual([])
  })

  it('keeps the three messages in order: the context is the header and those three', async () => {
    await using persistence = await world.open()
    await using session = await persistence.resume(id)
    expect(session.messages()).toEqual(messages)
    expect(session.modelContext()).toEqual({ ...header, messages })
  })

  it('completes turn 2 with continuing seqs, and a second resume adds nothing', async () => {
    await using persistence = await world.open()
    const session = await persistence.resume(id, { writer: 'B' })
    await secondTurn(session)
    await session.close()
    const stored = await eventsOf(persistence)
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index))
    // The announcement of the new writer travels in its own first batch: the resume itself wrote only the end of turn 1.
    expect(stored.slice(6).map(({ type }) => type)).toEqual([
      'turn/end',
      'session/resumed',
      'turn/start',
      'user/message',
      'assistant/message',
      'turn/end',
    ])

    await using again = await persistence.resume(id)
    expect(again.recovery).toMatchObject({ survived: stored.length, openCalls: [], closed: [] })
    await again.close()
    expect(await eventsOf(persistence)).toEqual(stored)
  })

  it('refuses a log without seq 3, and names the seq that it expected and the one that it found', async () => {
    await world.loseSeqThree()
    await using persistence = await world.open()
    const error = await persistence.resume(id).then(undefined, (reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'SessionError', code: 'CORRUPT', expected: 3, found: 4 })
    expect(String(error)).toMatch(/expected .*seq 3, found (seq )?4/i)
  })
})
