// Proves: whatever a caller passes to a live session, the answer is a SessionError, and the session is as it was before.
import { expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { Session } from '../../src/persistence/session-persistence.ts'
import { turnUpToCall } from '../persistence/conversation.ts'

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const trap = (name: string): object =>
  Object.defineProperty({}, name, {
    enumerable: true,
    get() {
      throw new Error('getter')
    },
  })

const NO_OBJECTS: readonly unknown[] = [null, 5, 'x', [], () => {}, revoked()]
const title = { title: 't' }

type Attempt = (session: Session) => unknown
const CASES: readonly (readonly [name: string, values: readonly unknown[], call: (value: never) => Attempt])[] = [
  ['append type', [undefined, ...NO_OBJECTS], (value) => (s) => s.append(value, title as never)],
  ['append data', [undefined, ...NO_OBJECTS, trap('title')], (value) => (s) => s.append('session/title', value)],
  ['append options', [...NO_OBJECTS, trap('surface')], (value) => (s) => s.append('session/title', title, value)],
  ['append surface', NO_OBJECTS, (surface) => (s) => s.append('session/title', title, { surface })],
  ['appendAll', [undefined, null, 5, 'x', {}, revoked()], (value) => (s) => s.appendAll(value)],
  ['appendAll of', [undefined, ...NO_OBJECTS, {}, trap('type')], (value) => (s) => s.appendAll([value])],
  ['checkpoint', [undefined, ...NO_OBJECTS], (value) => (s) => s.checkpoint(value)],
  ['beginCall', [undefined, ...NO_OBJECTS, {}], (value) => (s) => s.beginCall(value)],
  ['closeTurn', [undefined, ...NO_OBJECTS, {}, trap('reason')], (value) => (s) => s.closeTurn(value)],
  ['closeTurn reason', [...NO_OBJECTS, {}, trap('kind')], (reason) => (s) => s.closeTurn({ reason })],
  [
    'closeTurn keepPartialAnswer',
    [null, 0, 'false'],
    (keepPartialAnswer) => (s) => s.closeTurn({ reason: { kind: 'cancelled' }, keepPartialAnswer }),
  ],
  ['subscribe', [undefined, null, 5, {}], (value) => (s) => s.subscribe(value)],
  [
    'read',
    [...NO_OBJECTS, { from: null }, { to: '3' }, { reverse: 1 }, { signal: {} }],
    (value) => (s) => s.read(value),
  ],
  ['readPages', [...NO_OBJECTS, { from: null }, { to: '3' }], (value) => (s) => s.readPages(value)],
  ['state', [undefined, ...NO_OBJECTS, {}, trap('name')], (value) => (s) => s.state(value)],
]

it.each(CASES)('%s refuses what is not of its form', async (_name, values, call) => {
  const session = await (await openMemory()).create()
  turnUpToCall(session)
  await session.flush()
  const before = session.nextSeq
  for (const [index, value] of values.entries()) {
    let refusal: unknown
    try {
      await call(value as never)(session)
    } catch (error) {
      refusal = error
    }
    expect(refusal, `value ${index}`).toMatchObject({
      name: 'SessionError',
      code: expect.stringMatching(/^(INVALID_ARGUMENT|INVALID_EVENT|UNKNOWN_EVENT|INVARIANT|NOT_SUPPORTED)$/),
    })
    expect(session.nextSeq, `value ${index}`).toBe(before)
    expect(session.pendingEvents(), `value ${index}`).toEqual([])
  }
  await session.close()
})
