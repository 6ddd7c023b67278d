// Proves: a fork shares exactly the prefix up to a stable position, and parent and child go their own ways.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { assistant, collect, completeTurn, turnUpToCall, user } from './conversation.ts'

async function twoTurns(): Promise<SessionPersistence> {
  const persistence = await openMemory()
  const session = await persistence.create({ id: 'parent', cwd: '/home/me', labels: { colour: 'red' } })
  completeTurn(session, 1, 'one?', 'one')
  completeTurn(session, 2, 'two?', 'two')
  await session.close()
  return persistence
}

describe('fork', () => {
  it('shares the prefix up to `at`, inclusive, and then marks itself', async () => {
    const persistence = await twoTurns()
    const before = await collect(persistence.read('parent'))
    const child = await persistence.fork('parent', { at: 5, reason: 'try again' })
    expect(child.header).toMatchObject({ parent: 'parent', seedLength: 6, origin: 'fork', cwd: '/home/me' })
    expect(child.id).not.toBe('parent')
    completeTurn(child, 2, 'other?', 'other')
    await child.close()
    const events = await collect(persistence.read(child.id))
    expect(events.slice(0, 6)).toEqual(before.slice(0, 6))
    expect(events[6]).toMatchObject({
      seq: 6,
      type: 'session/forked',
      data: { parent: 'parent', at: 5, reason: 'try again' },
    })
    expect(await collect(persistence.read('parent'))).toEqual(before)
    const again = await persistence.resume(child.id)
    expect(again.messages()).toEqual([user('one?'), assistant('one'), user('other?'), assistant('other')])
  })

  it('takes `before` exclusive, and the newest stable position by default', async () => {
    const persistence = await twoTurns()
    const empty = await persistence.fork('parent', { before: 0 })
    expect(empty.header.seedLength).toBe(0)
    expect(empty.messages()).toEqual([])
    expect(await collect(empty.read())).toMatchObject([{ seq: 0, type: 'session/forked', data: { at: -1 } }])
    const first = await persistence.fork('parent', { before: 6 })
    expect(first.header.seedLength).toBe(6)
    const session = await persistence.resume('parent')
    session.append('turn/start', { turn: 3 })
    await session.flush()
    const stable = await persistence.fork('parent')
    // session/resumed lies at 12, outside any turn.
    expect(stable.header.seedLength).toBe(13)
  })

  it('takes the end of a turn by its number, without what came between the turns', async () => {
    const persistence = await twoTurns()
    await persistence.annotate('parent', { title: 'behind the second turn' })
    const first = await persistence.fork('parent', { turn: 1 })
    expect(first.header.seedLength).toBe(6)
    expect(first.messages()).toEqual([user('one?'), assistant('one')])
    const second = await persistence.fork('parent', { turn: 2 })
    expect(second.header.seedLength).toBe(12)
    expect(second.summary().title).toBeUndefined()
  })

  it.each([0, 3, 4])('refuses a turn that has no end: %i', async (turn) => {
    const persistence = await twoTurns()
    const session = await persistence.resume('parent')
    session.append('turn/start', { turn: 3 })
    await session.flush()
    await expect(persistence.fork('parent', { turn })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', found: turn })
    expect((await persistence.list()).sessions.map((entry) => entry.id)).toEqual(['parent'])
  })

  it('refuses a position inside a turn, past the end, or given twice, and leaves nothing', async () => {
    const persistence = await openMemory()
    const session = await persistence.create({ id: 'parent' })
    turnUpToCall(session)
    await session.flush()
    for (const options of [
      { at: 3 },
      { at: 6 },
      { at: -1 },
      { at: 0.5 },
      { before: -1 },
      { at: 0, before: 1 },
      { before: 1, turn: 1 },
      { turn: -1 },
    ]) {
      await expect(persistence.fork('parent', options as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    await expect(persistence.fork('parent', { at: 3 })).rejects.toMatchObject({ seq: 3, expected: 0, found: 3 })
    expect((await persistence.list()).sessions.map((entry) => entry.id)).toEqual(['parent'])
  })

  it('flushes one’s own open session first, and refuses an id that is taken', async () => {
    const persistence = await twoTurns()
    const session = await persistence.resume('parent')
    completeTurn(session, 3, 'three?', 'three')
    const child = await persistence.fork('parent')
    expect(child.summary().turns).toBe(3)
    await expect(persistence.fork('parent', { id: 'parent' })).rejects.toMatchObject({ code: 'LOCKED' })
    await session.close()
    await expect(persistence.fork('parent', { id: 'parent' })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  })

  it('does not take the middle of a compaction for stable, in a turn or outside one', async () => {
    const persistence = await twoTurns()
    const session = await persistence.resume('parent')
    session.append('compaction/start', {})
    await session.flush()
    await expect(persistence.fork('parent', { at: 13 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      expected: 12,
    })
    const child = await persistence.fork('parent')
    expect(child.header.seedLength).toBe(13)
    await child.close()
    expect((await persistence.resume(child.id)).recovery?.closed).toEqual([])
    session.append('compaction/end', { outcome: 'completed' })
    await session.flush()
    expect((await persistence.fork('parent', { at: 14 })).header.seedLength).toBe(15)
  })

  it('survives the deletion of its parent', async () => {
    const persistence = await twoTurns()
    const child = await persistence.fork('parent', { at: 11 })
    expect(await persistence.delete('parent')).toBe(true)
    completeTurn(child, 3, 'q', 'a')
    await child.close()
    expect((await persistence.inspect(child.id)).summary().turns).toBe(3)
  })
})
