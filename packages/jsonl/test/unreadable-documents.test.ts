// Proves that a summary or a snapshot that cannot be read is as good as absent: it costs time, and stops nothing. Only a
// process that is out of handles is told so.
import { createPersistence, type SessionPersistence } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { EIO, type Fault, FaultyFileSystem } from './parts/faulty-file-system.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** Enough for a snapshot at close. */
const EVENTS = 1_200

let fileSystem: FaultyFileSystem
let persistence: SessionPersistence

beforeEach(async () => {
  fileSystem = new FaultyFileSystem()
  const root = await temporaryDirectory()
  persistence = createPersistence(jsonlStorage({ root, durability: 'process', fileSystem }))
  for (const id of ['a', 'b']) {
    const session = await persistence.create({ id })
    for (let count = 0; count < EVENTS; count++) session.append('session/title', { title: `title ${count}` })
    await session.close()
  }
})

/** Every way to reach the documents of session `b` fails. */
function refuse(fault: Fault): void {
  fileSystem.decide = ({ name, path }) =>
    /open|read|lstat/i.test(name) && /\/b\/(?:summary|snapshots)/.test(path) ? fault : undefined
}

describe.each<readonly [string, Fault]>([
  ['that this user may not read', { code: 'EACCES', effect: 'before' }],
  ['in a bad sector', EIO],
])('documents %s', (_, fault) => {
  it('stop nothing', async () => {
    refuse(fault)
    const { sessions } = await persistence.list()
    expect(sessions.map(({ id, state, title }) => [id, state, title]).sort()).toEqual([
      ['a', 'ready', 'title 1199'],
      ['b', 'ready', 'title 1199'],
    ])
    expect(await persistence.verify('b')).toMatchObject({ ok: true, notes: [] })
    expect((await persistence.inspect('b')).nextSeq).toBe(EVENTS)
    const session = await persistence.resume('b')
    session.append('session/title', { title: 'another' })
    await session.close()
    expect((await persistence.inspect('b')).summary().title).toBe('another')
  })
})

it('a process without handles is told so', async () => {
  refuse({ code: 'EMFILE', effect: 'before' })
  await expect(persistence.inspect('b')).rejects.toMatchObject({ code: 'IO' })
})
