// Proves that follow prints what another process adds, as it is stored, and ends when the session is deleted or on a signal.
import { openPersistence } from 'session-persistence'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ended, printed, runCli, startCli } from './support/run-cli.ts'
import { store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
  await store(place.root, 'talk-one', (session) => twoTurns(session))
})
afterEach(() => place[Symbol.asyncDispose]())

describe('follow', () => {
  it('begins with what is new, unless it is told where', async () => {
    const follower = startCli(['follow', 'talk-one', '--root', place.root])
    const seen = printed(follower, /\n/)
    // Nothing says when it has begun to wait: something is added until it prints.
    let done = false
    const watched = seen.finally(() => {
      done = true
    })
    while (!done) await runCli(['annotate', 'talk-one', '--title', 'Added', '--root', place.root])
    expect((await watched).split('\n')[0]).toMatch(/^\{"seq":(?:1[1-9]|[2-9]\d),[^\n]+"title":"Added"/)
    follower.kill('SIGINT')
    expect(await ended(follower)).toBe(130)
  })

  it('goes on with what a writer adds, until the session is deleted', async () => {
    const follower = startCli(['follow', 'talk-one', '--from', '9', '--root', place.root])
    await printed(follower, /"seq":10,/)
    await using persistence = await openPersistence(`jsonl:${place.root}`)
    const session = await persistence.resume('talk-one')
    session.append('session/title', { title: 'Added' })
    await session.flush()
    const added = await printed(follower, /"title":"Added"/)
    expect(
      added
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    ).toEqual(['session/resumed', 'session/title'])
    await session.close()
    expect(await runCli(['delete', 'talk-one', '--root', place.root])).toMatchObject({ code: 0 })
    expect(await ended(follower)).toBe(0)
  })

  it('ends on SIGINT', async () => {
    const follower = startCli(['follow', 'talk-one', '--from', '10', '--root', place.root])
    await printed(follower, /"seq":10,/)
    follower.kill('SIGINT')
    expect(await ended(follower)).toBe(130)
  })
})
