// Proves: a call that a log does not show as begun is safe to run only where nothing behind its answer is lost.
import { describe, expect, it } from 'vitest'
import { LOST_EVENT_TYPE } from '../../src/event/lost-event.ts'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { ResumeOptions, Session } from '../../src/persistence/session-persistence.ts'
import { createMemoryMedium, type MemoryMedium } from '../../src/storage/memory-medium.ts'
import { assistant, collect, HEADER, tool, user } from './conversation.ts'

const ID = 's'
const CALLS = ['a', 'b'].map((callId) => ({ callId, name: 'count', arguments: { file: callId } }))
/** Events before the first `tool/call`. */
const ASKED = 5

async function withLog(write: (session: Session) => void): Promise<MemoryMedium> {
  const medium = createMemoryMedium()
  const session = await (await openMemory({ medium })).create({ id: ID })
  session.append('request/header', HEADER)
  session.append('turn/start', { turn: 1 })
  session.append('user/message', { turn: 1, message: user('how many lines?') })
  session.append('step/start', { turn: 1, step: 1 })
  session.append('assistant/message', { turn: 1, step: 1, message: assistant('let me look'), toolCalls: CALLS })
  write(session)
  await session.close()
  return medium
}

const begun = (session: Session): void => {
  for (const call of CALLS) session.append('tool/call', { turn: 1, step: 1, ...call })
}

/** As something else cut it: the summary beside the log still knows of its end. */
async function cut(): Promise<MemoryMedium> {
  const medium = await withLog(begun)
  const log = medium.logs.get(ID)
  if (log === undefined) throw new Error('nothing is stored')
  log.events = log.events.slice(0, ASKED)
  return medium
}

async function resumed(medium: MemoryMedium, options: ResumeOptions = {}): Promise<Session> {
  return (await openMemory({ medium })).resume(ID, options)
}

const tiersOf = (calls: readonly { readonly tier: string }[]): string[] => calls.map(({ tier }) => tier)
const UNKNOWN = ['outcome-unknown', 'outcome-unknown']
const SAFE = ['not-started', 'not-started']

describe('a log of which nothing is lost', () => {
  it('calls what was never begun safe to run', async () => {
    const medium = await withLog(() => {})
    const view = await (await openMemory({ medium })).inspect(ID)
    expect(tiersOf(view.openCalls())).toEqual(SAFE)
    const asked: string[] = []
    const session = await resumed(medium, {
      reconcile: async ({ callId }) => {
        asked.push(callId)
        return undefined
      },
    })
    expect(asked).toEqual([])
    expect(tiersOf(session.recovery?.openCalls ?? [])).toEqual(SAFE)
    expect(JSON.stringify(session.recovery?.closed)).toMatch(/never started/)
  })
})

describe('a log that something else cut', () => {
  it('calls nothing safe to run: in a view, in a resume, and to the model', async () => {
    const medium = await cut()
    const view = await (await openMemory({ medium })).inspect(ID)
    expect(view.recovery.missing).toEqual({ from: ASKED, to: ASKED + 1 })
    expect([view.openCalls(), view.recovery.openCalls].map(tiersOf)).toEqual([UNKNOWN, UNKNOWN])
    const session = await resumed(medium)
    expect(session.recovery?.closed).toEqual(view.recovery.closed)
    expect(tiersOf(session.recovery?.openCalls ?? [])).toEqual(UNKNOWN)
    expect(session.recovery?.closed.slice(0, 2)).toMatchObject(
      CALLS.map(({ callId }) => ({ data: { callId, synthetic: { tier: 'outcome-unknown' } } })),
    )
    expect(JSON.stringify(session.recovery?.closed)).toMatch(
      /lost when the log .* was damaged.*do not just call it again/,
    )
    expect(JSON.stringify(session.recovery?.closed)).not.toMatch(/never started|The tool was started/)
  })

  it('offers such a call to reconcile, since it may have been begun', async () => {
    const session = await resumed(await cut(), {
      reconcile: async ({ callId }) => (callId === 'a' ? { message: tool('42 lines') } : undefined),
    })
    expect(session.recovery?.closed.slice(0, 2)).toMatchObject([
      { data: { callId: 'a', message: tool('42 lines') } },
      { data: { callId: 'b', synthetic: { tier: 'outcome-unknown' } } },
    ])
  })

  it('says so for good where the turn stays open, and once', async () => {
    const medium = await cut()
    for (const count of [1, 2, 3]) {
      const session = await resumed(medium, { openTurn: 'keep' })
      expect(session.recovery?.closed).toEqual([])
      expect([count, tiersOf(session.openCalls())]).toEqual([count, UNKNOWN])
      // What is appended now takes the places of what is missing, and the summary is made anew.
      if (count === 2) session.append('session/title', { title: 'counting' })
      await session.close()
    }
    const events = await collect((await openMemory({ medium })).read(ID))
    expect(events.slice(ASKED).map(({ type }) => type)).toEqual([LOST_EVENT_TYPE, 'session/resumed', 'session/title'])
    const session = await resumed(medium)
    expect(session.recovery?.missing).toBeUndefined()
    expect(tiersOf(session.recovery?.openCalls ?? [])).toEqual(UNKNOWN)
  })

  it('adds nothing where the turn stays open and no call is', async () => {
    const medium = await withLog((session) => {
      begun(session)
      session.append('session/title', { title: 'counting' })
    })
    const log = medium.logs.get(ID)
    if (log !== undefined) log.events = log.events.slice(0, ASKED + 2)
    const session = await resumed(medium, { openTurn: 'keep' })
    expect(session.recovery?.missing).toEqual({ from: ASKED + 2, to: ASKED + 2 })
    expect(session.nextSeq).toBe(ASKED + 2)
  })
})

describe('a stand-in behind the answer', () => {
  const lost = async (): Promise<MemoryMedium> => {
    const medium = await withLog((session) => {
      session.append('tool/call', {
        turn: 1,
        step: 1,
        callId: 'b',
        name: 'count',
        arguments: { file: 'b' },
        effect: 'read-only',
      })
    })
    const log = medium.logs.get(ID)
    const time = log?.events.at(-1)?.time ?? 0
    log?.events.push({ seq: ASKED + 1, time, type: LOST_EVENT_TYPE, data: {}, ignorable: true })
    return medium
  }

  it('leaves what is known of calls that were begun, and makes the others unsafe', async () => {
    const session = await resumed(await lost(), { openTurn: 'keep' })
    expect(tiersOf(session.openCalls())).toEqual(['outcome-unknown', 'safe-to-retry'])
  })

  it('says nothing of calls that are asked for behind it', async () => {
    const session = await resumed(await lost())
    session.append('turn/start', { turn: 2 })
    session.append('assistant/message', { turn: 2, message: assistant('again'), toolCalls: CALLS })
    expect(tiersOf(session.openCalls())).toEqual(SAFE)
  })
})
