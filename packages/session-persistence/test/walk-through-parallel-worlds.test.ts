// Proves the walk-through "parallel worlds": after a kill the log equals what was acknowledged, a third turn sees the
// whole history, and a fork shares exactly the first two turns and leaves the parent's bytes alone.
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AnySessionEvent,
  createMemoryMedium,
  openMemory,
  openPersistence,
  type SessionPersistence,
} from '../src/index.ts'
import { runUntilKilled } from './processes/killed-process.ts'
import { runTurn } from './processes/small-loop.mjs'

const id = 'parallel-worlds'
const prompts = ['What is in the box?', 'And what is under it?'] as const

interface World {
  /** Process A: two turns, then death. Returns what it was told is durable. */
  twoTurns(): Promise<readonly AnySessionEvent[]>
  open(): Promise<SessionPersistence>
  /** A hash of what is stored of the session itself; undefined where a medium has no bytes. */
  parentHash(): Promise<string | undefined>
  destroy(): Promise<void>
}

async function jsonlWorld(): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), 'session-persistence-walk-'))
  const location = `jsonl:${root}`
  return {
    async twoTurns() {
      const news = (await runUntilKilled('two-turns.mjs', [location, id])).map((line) => JSON.parse(line))
      const durable: number = news.findLast((line) => line.durable !== undefined).durable.seq
      return news.flatMap(({ event }) => (event !== undefined && event.seq <= durable ? [event] : []))
    },
    open: () => openPersistence(location),
    async parentHash() {
      const files = await readdir(root, { recursive: true })
      const log = files.filter((name) => name.endsWith('session.jsonl') && name.includes(id))
      expect(log).toHaveLength(1)
      return createHash('sha256')
        .update(await readFile(join(root, log[0] ?? '')))
        .digest('hex')
    },
    destroy: () => rm(root, { recursive: true }),
  }
}

async function memoryWorld(): Promise<World> {
  const medium = createMemoryMedium()
  return {
    async twoTurns() {
      const session = await (await openMemory({ medium })).create({ id })
      const accepted: AnySessionEvent[] = []
      session.subscribe((event) => accepted.push(event))
      for (const prompt of prompts) await runTurn(session, prompt)
      const { seq } = await session.flush()
      await session.abandon()
      return accepted.slice(0, seq + 1)
    },
    open: () => openMemory({ medium }),
    parentHash: async () => undefined,
    destroy: async () => undefined,
  }
}

async function eventsOf(persistence: SessionPersistence, session: string): Promise<AnySessionEvent[]> {
  const events: AnySessionEvent[] = []
  for await (const event of persistence.read(session)) events.push(event)
  return events
}

describe.each([
  ['jsonl', jsonlWorld],
  ['memory', memoryWorld],
] as const)('parallel worlds, on %s', (_backend, makeWorld) => {
  let world: World
  let acknowledged: readonly AnySessionEvent[]
  beforeEach(async () => {
    world = await makeWorld()
    acknowledged = await world.twoTurns()
  })
  afterEach(() => world.destroy())

  it('restores the log event for event', async () => {
    await using persistence = await world.open()
    expect(acknowledged.filter(({ type }) => type === 'turn/end')).toHaveLength(2)
    expect(await eventsOf(persistence, id)).toEqual(acknowledged)
    await using session = await persistence.resume(id)
    expect(session.recovery).toMatchObject({ survived: acknowledged.length, openCalls: [], closed: [] })
  })

  it('shows the whole history to a third turn that is asked about the first', async () => {
    await using persistence = await world.open()
    await using session = await persistence.resume(id)
    const answer = await runTurn(session, 'What did I ask first?')
    expect(answer).toBe(
      'You asked: What is in the box? And what is under it? What did I ask first? I saw: thing 1, thing 2, thing 3.',
    )
  })

  it('forks at the end of turn 2: equal beginnings, separate ends, and the parent untouched', async () => {
    await using persistence = await world.open()
    const before = await world.parentHash()
    const at = acknowledged.length - 1
    const child = await persistence.fork(id, { at })
    expect(child.id).not.toBe(id)
    expect(child.header).toMatchObject({ parent: id, seedLength: at + 1 })
    expect(await runTurn(child, 'In the child?')).toContain('under it? In the child? I saw: thing 1, thing 2, thing 3.')
    await child.close()
    expect(await world.parentHash()).toBe(before)

    const parent = await persistence.resume(id)
    expect(await runTurn(parent, 'In the parent?')).toContain('under it? In the parent? I saw:')
    await parent.close()

    const [parentLog, childLog] = [await eventsOf(persistence, id), await eventsOf(persistence, child.id)]
    expect(parentLog.slice(0, at + 1)).toEqual(acknowledged)
    expect(childLog.slice(0, at + 1)).toEqual(acknowledged)
    expect(childLog[at + 1]).toMatchObject({ type: 'session/forked', data: { parent: id, at } })
    const prompted = (log: readonly AnySessionEvent[]): string => JSON.stringify(log.slice(at + 1))
    expect(prompted(parentLog)).not.toContain('In the child?')
    expect(prompted(childLog)).not.toContain('In the parent?')
  })
})
