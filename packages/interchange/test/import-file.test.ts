// Proves what importing does with ids that are taken: the same content is recognised, other content gets its hash behind
// every id of the file, and children follow their parents.
import { isSessionError, openMemory, type SessionPersistence } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { dsh, importFile } from '../src/index.ts'
import { dshLog, useSourceFiles } from './source-files.ts'

const file = useSourceFiles()

const transcript = (words: string): string =>
  [
    { uuid: 'u1', type: 'user', message: { role: 'user', content: words } },
    { uuid: 'x1', type: 'user', isSidechain: true, agentId: 'a', message: { role: 'user', content: 'task' } },
  ]
    .map((line) =>
      JSON.stringify({ sessionId: 's1', parentUuid: null, timestamp: '2026-01-01T00:00:00.000Z', ...line }),
    )
    .join('\n')

async function ids(persistence: SessionPersistence): Promise<string[]> {
  return (await persistence.list()).sessions.map(({ id }) => id).sort()
}

describe('importFile', () => {
  it('recognises a log that is stored already', async () => {
    await using persistence = await openMemory()
    const path = await file(dshLog())
    expect(await importFile(persistence, path)).toMatchObject({
      path,
      format: 'dsh',
      sessions: [{ id: 'session-1', outcome: 'imported', events: 2 }],
    })
    expect((await importFile(persistence, path)).sessions).toMatchObject([{ id: 'session-1', outcome: 'unchanged' }])
    expect(await ids(persistence)).toEqual(['session-1'])
  })

  it('recognises one that was continued since', async () => {
    await using persistence = await openMemory({ messageFormats: [dsh] })
    const path = await file(dshLog())
    await importFile(persistence, path)
    const session = await persistence.resume('session-1')
    session.append('session/title', { title: 'later' })
    await session.close()
    expect((await importFile(persistence, path)).sessions).toMatchObject([{ id: 'session-1', outcome: 'continued' }])
  })

  it('gives other content under the same id its hash, and recognises it the next time', async () => {
    await using persistence = await openMemory()
    await importFile(persistence, await file(transcript('one')))
    const other = await file(transcript('two'))
    const { sessions } = await importFile(persistence, other)
    const [parent, child] = sessions.map(({ header }) => header)
    expect(parent?.id).toMatch(/^s1-[0-9a-f]{12}$/)
    expect(child).toMatchObject({ id: `${parent?.id}-agent-a`, parent: parent?.id })
    expect(sessions.map(({ outcome }) => outcome)).toEqual(['imported', 'imported'])
    expect((await importFile(persistence, other)).sessions.map(({ outcome }) => outcome)).toEqual([
      'unchanged',
      'unchanged',
    ])
    expect(await ids(persistence)).toEqual(['s1', 's1-agent-a', parent?.id, child?.id].sort())
  })

  it('refuses when the hashed id holds other content, too', async () => {
    await using persistence = await openMemory()
    await importFile(persistence, await file(transcript('one')))
    const other = await file(transcript('two'))
    const { sessions } = await importFile(persistence, other)
    const id = sessions[0]?.id ?? ''
    await persistence.delete(id)
    await (await persistence.create({ id })).close()
    const session = await persistence.create({ id })
    session.append('session/title', { title: 'mine' })
    await session.close()
    await expect(importFile(persistence, other)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', sessionId: id })
  })

  it('resumes an imported log in mid-turn with the format it ships', async () => {
    await using persistence = await openMemory({ messageFormats: [dsh] })
    const call =
      '{"type":"assistant/message","data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"c","name":"n","arguments":"{}"}]},"surfaceOp":"append"}'
    await importFile(persistence, await file(dshLog(['{"type":"step/start","data":{"turn":1,"step":1}}', call])))
    await using session = await persistence.resume('session-1')
    expect(session.recovery?.closed.map(({ type }) => type)).toEqual(['tool/result', 'step/end', 'turn/end'])
    expect(session.messages().at(-1)).toMatchObject({
      content: [{ type: 'tool-result', toolCallId: 'c', isError: true }],
    })
  })

  it('stops at an abort and stores nothing of the log that it was at', async () => {
    await using persistence = await openMemory()
    const controller = new AbortController()
    const path = await file(dshLog())
    const reading = importFile(persistence, path, {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('stop')),
    })
    await expect(reading).rejects.toSatisfy(
      (error) => error instanceof Error && !isSessionError(error) && error.message === 'stop',
    )
    expect(await ids(persistence)).toEqual([])
  })
})
