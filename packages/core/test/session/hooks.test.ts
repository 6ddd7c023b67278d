// Proves: what a harness gives (clock, redact, projections, listeners, formats) can neither damage a log nor end the process.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { Session } from '../../src/persistence/session-persistence.ts'
import { createMemoryMedium } from '../../src/storage/memory-medium.ts'
import { completeTurn, HEADER, user } from '../persistence/conversation.ts'

const strays: unknown[] = []
const keep = (reason: unknown): void => {
  strays.push(reason)
}
beforeEach(() => process.on('unhandledRejection', keep))
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', keep)
  expect(strays.splice(0)).toEqual([])
})

const message = { message: user('x') }

describe('a clock', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, 'x', 1e300, -1e17, 5n])(
    'that returns %s refuses the event, and the next one is stored',
    async (wrong) => {
      let time: unknown = 1_000
      const persistence = await openMemory({ clock: () => time as number })
      const session = await persistence.create({ id: 'clocked' })
      time = wrong
      expect(() => session.append('user/message', message)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      )
      time = -0.5
      const event = session.append('user/message', message)
      expect(Object.is(event.time, 0)).toBe(true)
      await session.close()
      expect((await persistence.resume('clocked')).nextSeq).toBe(1)
    },
  )

  it('that returns a promise refuses the event', async () => {
    const persistence = await openMemory({ clock: () => Promise.reject(new Error('late')) as never })
    await expect(persistence.create()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('that throws is named as the fault', async () => {
    const persistence = await openMemory({
      clock: () => {
        throw new Error('no time')
      },
    })
    await expect(persistence.create()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('a hook that appends while an event is judged', () => {
  it.each(['apply', 'redact', 'clock'] as const)(
    'is refused from %s, and every event has a seq of its own',
    async (hook) => {
      let session: Session | undefined
      const refusals: unknown[] = []
      const reenter = (): void => {
        if (session === undefined) return
        try {
          session.append('session/title', { title: 'inner' })
        } catch (error) {
          refusals.push(error)
        }
      }
      const count = {
        name: 'count',
        version: 1,
        initial: () => 0,
        apply: (state: number) => {
          if (hook === 'apply') reenter()
          return state + 1
        },
      }
      const persistence = await openMemory({
        projections: [count],
        redact: (_type, data) => {
          if (hook === 'redact') reenter()
          return data
        },
        clock: () => {
          if (hook === 'clock') reenter()
          return 1
        },
      })
      session = await persistence.create()
      session.append('user/message', message)
      session.appendAll([
        { type: 'user/message', data: message },
        { type: 'user/message', data: message },
      ])
      expect(session.pendingEvents().map((event) => [event.seq, event.type])).toEqual([
        [0, 'user/message'],
        [1, 'user/message'],
        [2, 'user/message'],
      ])
      expect(refusals.length).toBeGreaterThan(0)
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'INVALID_ARGUMENT' })
      expect((await session.flush()).seq).toBe(2)
    },
  )
})

describe('a promise where none may be', () => {
  const late = (): Promise<never> => Promise.reject(new Error('late'))

  it('from redact or apply refuses the event', async () => {
    const redacting = await (await openMemory({ redact: late })).create()
    expect(() => redacting.append('user/message', message)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
    const projection = { name: 'late', version: 1, initial: () => 0, apply: late as never }
    const projecting = await (await openMemory({ projections: [projection] })).create()
    expect(() => projecting.append('user/message', message)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
    expect(projecting.nextSeq).toBe(0)
  })

  it('from a listener is a warning, and the event is accepted', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const session = await (await openMemory()).create()
    session.subscribe(late)
    session.append('user/message', message)
    expect((await warned).message).toContain('a subscriber threw')
    expect((await session.flush()).seq).toBe(0)
  })

  it('from a message format refuses the close of the turn', async () => {
    const format = { name: 'late', toolResult: late, partialAssistant: late, text: () => '' }
    const session = await (await openMemory({ messageFormats: [format] })).create({ messageFormat: 'late' })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    const toolCalls = [{ callId: 'c', name: 'run', arguments: {} }]
    session.append('assistant/message', { turn: 1, step: 1, message: 'm', toolCalls })
    await expect(session.closeTurn({ reason: { kind: 'completed' } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(session.nextSeq).toBe(3)
  })
})

describe('a projection whose state cannot be stored', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  it.each([
    ['a cycle', cyclic],
    ['a BigInt', 1n],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['NaN', Number.NaN],
  ])('because it is %s: close releases the lock, and the next resume folds the log', async (_what, state) => {
    const medium = createMemoryMedium()
    const projection = { name: 'odd', version: 1, initial: () => state, apply: () => state }
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const persistence = await openMemory({ medium, projections: [projection] })
    const session = await persistence.create({ id: 'odd' })
    for (let turn = 1; turn <= 200; turn++) completeTurn(session, turn, 'q', 'a')
    await session.close()
    expect((await warned).message).toContain('no snapshot')
    expect(medium.logs.get('odd')?.derived.has('snapshots')).toBe(false)
    const again = await persistence.resume('odd')
    expect(again.state(projection)).toBe(state)
    await again.close()
  })
})

describe('an answer too large for one event', () => {
  it('is left in its chunks: the turn closes live and after a crash, and a view works', async () => {
    const medium = createMemoryMedium()
    const session = await (await openMemory({ medium })).create({ id: 'large' })
    session.append('request/header', HEADER)
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    const text = 'x'.repeat(24 * 1024 * 1024)
    for (let index = 0; index < 3; index++) {
      session.append('assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text })
      await session.flush()
    }
    medium.locks.clear()
    const persistence = await openMemory({ medium })
    expect((await persistence.inspect('large')).recovery.closed.map((event) => event.type)).toEqual([
      'step/end',
      'turn/end',
    ])
    const resumed = await persistence.resume('large')
    expect(resumed.messages()).toEqual([])
    expect(resumed.openTurn).toBeUndefined()
  })
})

describe('redact', () => {
  it('sees data that was checked already: it cannot hide what JSON would lose', async () => {
    const redact = (_type: string, data: unknown): unknown => JSON.parse(JSON.stringify(data))
    const session = await (await openMemory({ redact })).create()
    expect(() => session.append('todo/write', { todos: [undefined, Number.NaN] })).toThrow(
      expect.objectContaining({ code: 'INVALID_EVENT' }),
    )
    const event = session.append('user/message', message)
    expect(event.data).toEqual(message)
  })
})
