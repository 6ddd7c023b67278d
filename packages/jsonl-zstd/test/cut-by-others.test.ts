// Proves that a log that something else cut says so: the summary beside it was made for events that are gone.
import { readFile, stat, truncate } from 'node:fs/promises'
import type { SessionPersistence } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { openJsonl } from '../../jsonl/src/index.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { openJsonlZstd } from '../src/index.ts'
import { logPath } from './parts/frame-log.ts'

const EVENTS = 20

let root = ''
beforeEach(async () => {
  root = await temporaryDirectory()
})

describe.each([
  ['a sealed log inside its only frame', openJsonlZstd, logPath, (bytes: Buffer) => bytes.length - 40],
  [
    'a log of lines behind a whole batch',
    openJsonl,
    (at: string, id: string) => `${at}/${id}/session.jsonl`,
    (bytes: Buffer) => bytes.lastIndexOf(0x0a, bytes.length - 2) + 1,
  ],
] as const)('%s', (_, open, pathOf, placeToCut) => {
  /** With a summary of `EVENTS` events beside it. */
  async function cutLog(persistence: SessionPersistence): Promise<string> {
    const session = await persistence.create({ id: 's' })
    for (let count = 1; count <= EVENTS; count++) {
      session.append('session/title', { title: `title ${count}` })
      await session.flush()
    }
    await session.close()
    expect((await persistence.inspect('s')).recovery.missing).toBeUndefined()
    expect((await persistence.verify('s')).notes).toEqual([])
    const path = pathOf(root, 's')
    await truncate(path, placeToCut(await readFile(path)))
    return path
  }

  it('names what is missing, to whoever looks and to whoever resumes', async () => {
    const persistence = await open({ root })
    const path = await cutLog(persistence)
    const { size } = await stat(path)
    const view = await persistence.inspect('s')
    expect(view.nextSeq).toBeLessThan(EVENTS)
    const missing = { from: view.nextSeq, to: EVENTS - 1 }
    expect(view.recovery.missing).toEqual(missing)
    const { notes } = await persistence.verify('s')
    expect(notes).toEqual([expect.stringMatching(/missing: the summary beside the log was made for/)])
    expect((await stat(path)).size).toBe(size)
    // An earlier moment is not short of anything.
    if (view.nextSeq > 0) expect((await persistence.inspect('s', { at: 0 })).recovery.missing).toBeUndefined()

    const resumed = await persistence.resume('s')
    expect(resumed.recovery).toMatchObject({ survived: view.nextSeq, missing })
    resumed.append('session/title', { title: 'after' })
    await resumed.close()
    // Said once: from here on the summary is that of the log as it is.
    expect((await persistence.inspect('s')).recovery.missing).toBeUndefined()
    await persistence.close()
  })

  it('says so still after an annotation, which tells nobody', async () => {
    const persistence = await open({ root })
    await cutLog(persistence)
    const { nextSeq } = await persistence.inspect('s')
    for (let count = 1; count <= 2; count++) {
      await persistence.annotate('s', { title: `annotated ${count}` })
      const { missing } = (await persistence.inspect('s')).recovery
      const isPast = nextSeq + count >= EVENTS
      const last = { to: EVENTS - 1 }
      expect(missing).toEqual(
        isPast ? { ...last, from: EVENTS - 1, replaced: true } : { ...last, from: nextSeq + count },
      )
      expect((await persistence.verify('s')).notes.length).toBe(1)
    }
    expect((await persistence.resume('s')).recovery?.missing?.to).toBe(EVENTS - 1)
    await persistence.close()
  })

  it('names the event that stands in the place of the last one, when it was continued past that', async () => {
    const persistence = await open({ root })
    await cutLog(persistence)
    const session = await persistence.resume('s')
    for (let count = 1; count <= EVENTS + 5; count++) session.append('session/title', { title: `another ${count}` })
    await session.flush()
    // As if the process had died.
    await session.abandon()

    const missing = { from: EVENTS - 1, to: EVENTS - 1, replaced: true }
    expect((await persistence.inspect('s')).recovery.missing).toEqual(missing)
    expect((await persistence.verify('s')).notes).toEqual([
      'event 19 is another one than the one that the summary beside the log was made for',
    ])
    const resumed = await persistence.resume('s')
    expect(resumed.recovery?.missing).toEqual(missing)
    await resumed.close()
    expect((await persistence.verify('s')).notes).toEqual([])
    await persistence.close()
  })
})
