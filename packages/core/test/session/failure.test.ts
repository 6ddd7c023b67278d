// Proves: a failed write loses nothing, reaches whoever waits and onFailure, and the next flush is the retry.
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/errors.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { collect, user } from '../persistence/conversation.ts'
import { gatedStorage } from '../storage/gated-storage.ts'

const full = (): SessionError => new SessionError('NO_SPACE', 'the disk is full')

describe('a failed write', () => {
  it('keeps its events pending in order; each is stored once by a later flush', async () => {
    const { storage, gate } = gatedStorage()
    const failures: string[] = []
    const persistence = createPersistence(storage, { onFailure: (error) => failures.push(error.code) })
    const session = await persistence.create()
    session.append('user/message', { message: user('one') })
    gate.failures.push(full())
    await expect(session.flush()).rejects.toMatchObject({ code: 'NO_SPACE', sessionId: session.id })
    session.append('user/message', { message: user('two') })
    expect(session.pendingEvents().map((event) => event.seq)).toEqual([0, 1])
    expect((await session.flush()).seq).toBe(1)
    expect(failures).toEqual(['NO_SPACE'])
    const stored = await collect(session.read())
    expect(stored.map((event) => event.data)).toEqual([{ message: user('one') }, { message: user('two') }])
  })

  it('rejects every flush that waits, and close, which leaves the session open', async () => {
    const { storage, gate } = gatedStorage()
    const session = await createPersistence(storage, { onFailure: () => {} }).create()
    session.append('user/message', { message: user('one') })
    gate.hold()
    gate.failures.push(full())
    const outcomes = Promise.allSettled([session.flush(), session.flush()])
    gate.release()
    expect((await outcomes).map((outcome) => outcome.status)).toEqual(['rejected', 'rejected'])
    gate.failures.push(full())
    await expect(session.close()).rejects.toMatchObject({ code: 'NO_SPACE' })
    session.append('user/message', { message: user('two') })
    await session.close()
    expect(gate.batches).toEqual([2])
  })

  it('that nobody waits for reaches onFailure', async () => {
    const { storage, gate } = gatedStorage()
    gate.failures.push(new Error('cable pulled'))
    const failed = new Promise<SessionError>((resolve) => {
      const persistence = createPersistence(storage, { writeWindowMs: 0, onFailure: resolve })
      persistence.create().then((session) => session.append('user/message', { message: user('one') }))
    })
    const error = await failed
    expect(error.code).toBe('IO')
    expect(error.cause).toBeInstanceOf(Error)
  })

  it('is tried again by itself for what was accepted while it ran, and not without', async () => {
    const { storage, gate } = gatedStorage()
    const failures: string[] = []
    let failed = (): void => {}
    const nextFailure = (): Promise<void> => new Promise((resolve) => (failed = resolve))
    const persistence = createPersistence(storage, {
      writeWindowMs: 0,
      onFailure: (error) => {
        failures.push(error.code)
        failed()
      },
    })
    const session = await persistence.create()
    gate.hold()
    gate.failures.push(full())
    const first = nextFailure()
    session.append('user/message', { message: user('one') })
    // The first write waits at the gate once its window has passed.
    const flushed = session.flush()
    session.append('user/message', { message: user('two') })
    gate.release()
    await expect(flushed).rejects.toMatchObject({ code: 'NO_SPACE' })
    await first
    while (session.durableSeq < 2) await new Promise(setImmediate)
    expect(gate.batches).toEqual([2])

    const second = nextFailure()
    gate.failures.push(full(), full())
    session.append('user/message', { message: user('three') })
    await second
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    expect(failures).toEqual(['NO_SPACE', 'NO_SPACE'])
    expect(session.pendingEvents()).toHaveLength(1)
    await session.abandon()
  })

  it('at the end of a scope releases the lock and says how many events are lost', async () => {
    const { storage, gate } = gatedStorage()
    const persistence = createPersistence(storage, { onFailure: () => {} })
    const id = 'scoped'
    const scope = async (): Promise<void> => {
      await using session = await persistence.create({ id })
      session.append('user/message', { message: user('one') })
      gate.failures.push(full())
    }
    await expect(scope()).rejects.toThrow('1 accepted events were not stored')
    const again = await persistence.create({ id })
    expect(again.nextSeq).toBe(0)
    await again.abandon()
  })
})
