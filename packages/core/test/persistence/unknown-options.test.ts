// Proves: an option that does not exist is refused by name, so that a misspelled one is never taken for an absent one.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { Session, SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import { collect, completeTurn } from './conversation.ts'

type Call = (persistence: SessionPersistence, session: Session, options: never) => unknown

const CALLS: { readonly [name: string]: readonly [call: Call, known: string] } = {
  create: [(persistence, _, options) => persistence.create(options), 'id, cwd, messageFormat, origin, parent, labels'],
  resume: [(persistence, _, options) => persistence.resume('stored', options), 'openTurn'],
  fork: [(persistence, _, options) => persistence.fork('stored', options), 'at, before, turn'],
  inspect: [(persistence, _, options) => persistence.inspect('stored', options), 'at, signal'],
  read: [(persistence, _, options) => collect(persistence.read('stored', options)), 'from, to, reverse, signal'],
  readPages: [
    (persistence, _, options) => collect(persistence.readPages('stored', options)),
    'from, to, reverse, signal',
  ],
  follow: [(persistence, _, options) => collect(persistence.follow('stored', options)), 'from, signal'],
  list: [(persistence, _, options) => persistence.list(options), 'limit, cursor, filter, signal'],
  'a filter': [(persistence, _, filter) => persistence.list({ filter }), 'cwd, parent, origin, labels'],
  annotate: [
    (persistence, _, options: object) => persistence.annotate('stored', { title: 'new', ...options }),
    'title, labels',
  ],
  verify: [(persistence, _, options) => persistence.verify('stored', options), 'expectHead, signal'],
  repair: [(persistence, _, options) => persistence.repair('stored', options), 'dryRun, signal'],
  exportLog: [(persistence, _, options) => persistence.exportLog('stored', options), 'signal'],
  append: [(_, session, options) => session.append('session/title', { title: 'x' }, options), 'surface, sources'],
  closeTurn: [
    (_, session, options: object) => session.closeTurn({ reason: { kind: 'completed' }, ...options }),
    'reason, keepPartialAnswer',
  ],
  'read of a session': [(_, session, options) => collect(session.read(options)), 'from, to, reverse, signal'],
  'readPages of a session': [(_, session, options) => collect(session.readPages(options)), 'from, to, reverse, signal'],
  openMemory: [(_, __, options) => openMemory(options), 'events, projections, messageFormats, redact'],
  createPersistence: [(_, __, options) => createPersistence(memoryStorage(), options), 'events, projections'],
}

async function opened(): Promise<{ readonly persistence: SessionPersistence; readonly session: Session }> {
  const persistence = await openMemory()
  const stored = await persistence.create({ id: 'stored' })
  completeTurn(stored, 1, 'q', 'a')
  await stored.close()
  return { persistence, session: await persistence.create() }
}

describe.each(Object.entries(CALLS))('%s', (_, [call, known]) => {
  it('refuses a property that it does not know, by name', async () => {
    const { persistence, session } = await opened()
    const refused = (async () => call(persistence, session, { misspelt: 'x' } as never))()
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`has no property "misspelt"; it takes ${known}`),
    })
    expect(session.nextSeq).toBe(0)
  })
})

it('an option that is undefined is absent, whatever its name', async () => {
  const { persistence } = await opened()
  const page = await persistence.list({ limit: 1, misspelt: undefined } as never)
  expect(page.sessions.map(({ id }) => id)).toEqual(['stored'])
})
