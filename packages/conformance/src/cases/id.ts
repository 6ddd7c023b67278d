import { existsSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { LIMITS, type SessionPersistence } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { storedEvents, storeSession } from '../stored-events.ts'
import { plainMessage, turnEvents } from '../workload.ts'

/** Ids that have broken stores: path parts, reserved names, what file systems fold, what shells read. */
const AWKWARD_IDS: readonly string[] = [
  '..',
  '.',
  '../outside',
  '../../etc/passwd',
  '/absolute',
  'a/b',
  'a\\b',
  'a\u0000b',
  'a\nb',
  '\u0001\u001f\u007f',
  'con',
  'NUL',
  'aux.txt',
  'COM1',
  'trailing.',
  'trailing ',
  ' leading',
  '.hidden',
  '-rf',
  '~',
  '%2e%2e',
  'a%b',
  'a:b',
  'a*b?',
  '"quoted"',
  "it's",
  '$(id)',
  '会话'.repeat(50),
  'x'.repeat(300),
  '🧵',
  '\u2028',
  '__proto__',
  'constructor',
  'session.jsonl',
  '.locks',
  '.tmp-a',
]

/** Pairs that a file system or a database may take for one. */
const TWINS: readonly (readonly [string, string])[] = [
  ['Abc', 'abc'],
  ['caf\u00e9', 'cafe\u0301'],
  ['ﬁ', 'fi'],
  ['a', 'a '],
  ['a', 'a.'],
  ['ß', 'SS'],
  ['I', 'ı'],
  ['a/b', 'a%2fb'],
  [`${'y'.repeat(299)}1`, `${'y'.repeat(299)}2`],
]

export const ID_CASES: readonly ConformanceCase[] = casesOf('ID', {
  1: {
    title: 'An id that is empty, too long, not well-formed Unicode or not a string is INVALID_ID, on every call.',
    why: 'Two such ids could not be told apart on a medium.',
    run: async (context) => {
      const persistence = await context.open()
      const bad: readonly unknown[] = ['', 'x'.repeat(LIMITS.idBytes + 1), '\ud800', 'a\udc00b', 7, {}]
      for (const id of bad as readonly string[]) {
        const what = typeof id === 'string' ? JSON.stringify(id.slice(0, 12)) : String(id)
        for (const [name, call] of callsWith(persistence, id))
          await expectRefusal(call, 'INVALID_ID', `${name} of ${what}`)
      }
    },
  },
  2: {
    title: 'Any other string is an id: stored, listed, read, resumed, inspected and deleted as itself.',
    why: 'Ids come from other programs and from file headers.',
    run: async (context) => {
      const persistence = await context.open({ clock: () => 1000 })
      for (const id of AWKWARD_IDS) await storeMessage(persistence, id)
      const { sessions } = await persistence.list({ limit: 1000 })
      expectEqual(
        sessions.map(({ id }) => id),
        [...AWKWARD_IDS].sort(byCodeUnit),
        'ids listed',
      )
      const again = await context.open()
      for (const id of AWKWARD_IDS) {
        expectEqual((await storedEvents(again, id))[0]?.data, { message: plainMessage('user', id) }, `events of ${id}`)
        expectEqual((await again.inspect(id)).header.id, id, 'id in the header')
        await (await again.resume(id)).close()
        expectEqual(await again.delete(id), true, `delete of ${id}`)
      }
      expectEqual((await again.list()).sessions, [], 'sessions after deleting all')
    },
  },
  3: {
    title:
      'Ids that differ in case, normalisation, trailing dots or spaces, or only at their end are different sessions.',
    why: 'One session overwriting another is the worst loss.',
    run: async (context) => {
      const persistence = await context.open()
      for (const id of new Set(TWINS.flat())) await storeMessage(persistence, id)
      for (const id of new Set(TWINS.flat())) {
        expectEqual(
          (await storedEvents(persistence, id))[0]?.data,
          { message: plainMessage('user', id) },
          `events of ${id}`,
        )
      }
    },
  },
  4: {
    title: 'No id reaches outside the medium.',
    why: 'An id in an imported header must not be able to write elsewhere.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const { location } = context.medium
      const persistence = await context.open()
      for (const id of AWKWARD_IDS) await storeMessage(persistence, id)
      for (const path of await context.medium.files()) {
        if (location === undefined) break
        expectThat(resolve(path).startsWith(`${resolve(location)}${sep}`), `${path} is outside ${location}`)
      }
      const escapes =
        location === undefined ? [] : ['../outside', '../../etc/passwd.new'].map((id) => resolve(location, id))
      for (const path of escapes) expectThat(!existsSync(path), `${path} exists`)
      for (const id of AWKWARD_IDS) await persistence.delete(id)
    },
  },
  5: {
    title: 'Creating a session under a stored id is ALREADY_EXISTS, and the stored one stays as it was.',
    why: 'A retried create must not empty a conversation.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      await expectRefusal(
        async () => {
          const session = await persistence.create({ id: 's' })
          session.append('user/message', { message: 'x' })
          await session.flush()
        },
        'ALREADY_EXISTS',
        'creating s again',
      )
      expectEqual(await storedEvents(persistence, 's'), events, 'events of the stored session')
    },
  },
  6: {
    title: 'Ids that the backend makes are unique, also when many are made at once.',
    why: 'Two agents start in the same millisecond.',
    run: async (context) => {
      const persistence = await context.open()
      const sessions = await Promise.all(Array.from({ length: 64 }, () => persistence.create()))
      const ids = new Set(sessions.map(({ id }) => id))
      expectEqual(ids.size, 64, 'different ids')
      for (const session of sessions) expectEqual(session.header.id, session.id, 'id in the header')
    },
  },
})

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function storeMessage(persistence: SessionPersistence, id: string): Promise<void> {
  await storeSession(persistence, id, [[{ type: 'user/message', data: { message: plainMessage('user', id) } }]])
}

function callsWith(persistence: SessionPersistence, id: string): readonly (readonly [string, () => unknown])[] {
  return [
    ['create', () => persistence.create({ id })],
    ['resume', () => persistence.resume(id)],
    ['inspect', () => persistence.inspect(id)],
    ['read', () => storedEvents(persistence, id)],
    ['delete', () => persistence.delete(id)],
    ['verify', () => persistence.verify(id)],
    ['annotate', () => persistence.annotate(id, { title: 'x' })],
    ['fork', () => persistence.fork(id)],
  ]
}
