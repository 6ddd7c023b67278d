import { SESSION_ERROR_CODES } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat, rejectionOf } from '../expectation.ts'
import { appendUntyped, storedEvents, storeSession } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

export const ERR_CASES: readonly ConformanceCase[] = casesOf('ERR', {
  1: {
    title: 'Every refusal is an Error named SessionError with a code of the closed list and a message.',
    why: 'Callers decide by code; anything else is a crash.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const session = await persistence.resume('s')
      const calls: readonly (readonly [string, () => unknown])[] = [
        ['resume of what is not there', () => persistence.resume('missing')],
        ['resume of what is held', () => persistence.resume('s')],
        ['create of what is there', () => persistence.create({ id: '' })],
        ['an unknown message format', () => persistence.create({ messageFormat: 'no-such-format' })],
        ['a bad position', () => persistence.fork('s', { at: 3 })],
        ['a bad limit', () => persistence.list({ limit: 0 })],
        ['a bad event', () => appendUntyped(session, 'turn/start', { turn: 'one' })],
        ['an unknown event', () => appendUntyped(session, 'no/such-type', {})],
        ['a bad option', () => persistence.resume('s', { openTurn: 'perhaps' as 'keep' })],
        ['a bad range', () => storedEvents(persistence, 's', { from: -1 })],
      ]
      for (const [what, call] of calls) {
        const error = await rejectionOf(call, what)
        expectThat(
          error instanceof Error && error.name === 'SessionError',
          `${what}: not a SessionError: ${String(error)}`,
        )
        const { code, message } = error as Error & { readonly code?: string }
        expectThat(
          code !== undefined && Object.hasOwn(SESSION_ERROR_CODES, code),
          `${what}: code ${code} is not of the list`,
        )
        expectThat(message.length > 0, `${what}: no message`)
      }
    },
  },
  2: {
    title: 'An error about a session carries its id.',
    why: 'A program with a hundred sessions must know which one.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const session = await persistence.resume('s')
      const calls: readonly (readonly [string, string, () => unknown])[] = [
        ['resume', 'missing', () => persistence.resume('missing')],
        ['inspect', 'missing', () => persistence.inspect('missing')],
        ['read', 'missing', () => storedEvents(persistence, 'missing')],
        ['verify', 'missing', () => persistence.verify('missing')],
        ['a second resume', 's', () => persistence.resume('s')],
        ['delete while open', 's', () => persistence.delete('s')],
        ['a refused append', 's', () => appendUntyped(session, 'turn/start', { turn: 9 })],
        ['a fork in mid-turn', 's', () => persistence.fork('s', { at: 3 })],
      ]
      for (const [what, id, call] of calls) {
        const error = await rejectionOf(call, what)
        expectEqual((error as { readonly sessionId?: string }).sessionId, id, `session id of the error of ${what}`)
      }
    },
  },
  3: {
    title: 'Errors about an event name the path inside it, and limits name the limit and what was found.',
    why: 'A harness author fixes what is named.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const bad = { message: { list: [0, { deep: Number.NaN }] } }
      const error = await expectRefusal(
        () => appendUntyped(session, 'user/message', bad),
        'INVALID_EVENT',
        'NaN inside',
      )
      expectThat((error.path ?? '').includes('deep'), `path '${error.path}' does not lead to the value`)
      const missing = await expectRefusal(
        () => appendUntyped(session, 'turn/start', {}),
        'INVALID_EVENT',
        'a missing field',
      )
      expectThat(`${missing.path ?? ''} ${missing.message}`.includes('turn'), 'the missing field is not named')
    },
  },
  4: {
    title: 'Aborted calls reject with the reason of the signal itself, also when it is not an Error.',
    why: 'A wrapped reason cannot be recognised.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const reasons: readonly unknown[] = [new Error('own'), { kind: 'a plain object' }, 'a string']
      for (const reason of reasons) {
        const signal = AbortSignal.abort(reason)
        const calls: readonly (readonly [string, () => unknown])[] = [
          ['read', () => storedEvents(persistence, 's', { signal })],
          ['list', () => persistence.list({ signal })],
          ['resume', () => persistence.resume('s', { signal })],
        ]
        for (const [name, call] of calls) {
          expectThat((await rejectionOf(call, name)) === reason, `${name} did not reject with the reason itself`)
        }
      }
      await (await persistence.resume('s')).close()
    },
  },
})
