// Proves that a repair takes what is lost and what hangs on it, nothing behind, and says all of it.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { LOST_EVENT_TYPE } from '../../src/event/lost-event.ts'
import { LIMITS } from '../../src/limits.ts'
import { plain } from '../../src/message-format/plain.ts'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { Session } from '../../src/persistence/session-persistence.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import { SalvagedLog } from '../../src/recovery/salvaged-log.ts'
import { assistant, collect, HEADER, tool, user } from '../persistence/conversation.ts'

const SCALE = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)

/** Two steps: one with two calls, of which one is external, and one that answers. */
function turnWithCalls(session: Session, turn: number): void {
  session.append('turn/start', { turn })
  session.append('user/message', { turn, message: user('how many lines?') })
  session.append('step/start', { turn, step: 1 })
  session.append('request/sent', { turn, step: 1, attempt: 1 })
  session.append('assistant/chunk', { turn, step: 1, kind: 'text', index: 0, text: 'let me' })
  const calls = ['a', 'b'].map((callId) => ({ callId, name: 'count', arguments: { file: callId } }))
  session.append('assistant/message', { turn, step: 1, message: assistant('let me look'), toolCalls: calls })
  for (const call of calls) session.append('tool/call', { turn, step: 1, ...call })
  session.append('tool/execution', { turn, step: 1, callId: 'a', state: 'external', externalId: 'x' })
  for (const { callId } of calls) session.append('tool/result', { turn, step: 1, callId, message: tool('12') })
  session.append('step/end', { turn, step: 1 })
  session.append('step/start', { turn, step: 2 })
  session.append('request/sent', { turn, step: 2, attempt: 1 })
  session.append('assistant/message', { turn, step: 2, message: assistant('twelve'), toolCalls: [] })
  session.append('step/end', { turn, step: 2 })
  session.append('turn/end', { turn, reason: { kind: 'completed' } })
}

async function conversation(): Promise<readonly AnySessionEvent[]> {
  const persistence = await openMemory()
  const session = await persistence.create({ id: 's' })
  session.append('request/header', HEADER)
  turnWithCalls(session, 1)
  turnWithCalls(session, 2)
  session.append('compaction/start', { compactionId: 'c' })
  session.append('user/message', { message: user('so far') }, { surface: { replace: [2, 6] } })
  session.append('compaction/end', { compactionId: 'c', outcome: 'completed' })
  session.append('user/message', { message: user('between two turns') })
  turnWithCalls(session, 3)
  turnWithCalls(session, 4)
  await session.close()
  return collect(persistence.read('s'))
}

const EVENTS = await conversation()

interface Salvaged {
  readonly events: readonly AnySessionEvent[]
  readonly log: SalvagedLog
}

async function salvaged(
  proven: readonly AnySessionEvent[],
  options: Partial<ConstructorParameters<typeof SalvagedLog>[0]> = {},
): Promise<Salvaged> {
  const log = new SalvagedLog({ judged: true, messageFormat: 'plain', missingMax: 1000, ...options })
  const pages = await collect(
    log.pages(
      (async function* () {
        for (let at = 0; at < proven.length; at += 7) yield proven.slice(at, at + 7)
      })(),
    ),
  )
  const events = pages.flat()
  expect(log.kept).toBe(events.length)
  return { events, log }
}

/** Legal, contiguous, and every proven event in its place or within what is said to be lost. */
function expectSound({ events, log }: Salvaged, proven: readonly AnySessionEvent[]): void {
  const fold = new LogFold()
  for (const event of events) fold.accept(event)
  for (const event of proven) {
    if (events[event.seq] === event) continue
    const named = log.lost.some(({ from = -1, to = -1, message }) => {
      return from <= event.seq && event.seq <= to && message.includes('cannot')
    })
    expect(named, `event ${event.seq}, ${event.type}, is gone and nobody says so`).toBe(true)
  }
}

const without = (...seqs: readonly number[]): readonly AnySessionEvent[] =>
  EVENTS.filter(({ seq }) => !seqs.includes(seq))

/** What cannot stay when one event is lost: of the step, what an answer asked for, or what a call began. */
function hangsOn({ seq, type, data }: AnySessionEvent): readonly number[] {
  const lost = data as { readonly turn?: number; readonly step?: number; readonly callId?: string; toolCalls?: [] }
  return EVENTS.filter((event) => {
    const { turn, step, callId } = event.data as typeof lost
    // What stands for a range of messages needs both its ends.
    if (event.surface?.replace.includes(seq) === true) return true
    if (event.seq <= seq || turn !== lost.turn || step !== lost.step) return false
    if (type === 'assistant/message') return event.type.startsWith('tool/')
    return type === 'tool/call' && event.type === 'tool/execution' && callId === lost.callId
  }).map((event) => event.seq)
}

describe('SalvagedLog', () => {
  it('keeps a whole log as it is', async () => {
    const found = await salvaged(EVENTS)
    expect(found.events).toEqual(EVENTS)
    expect(found.log.lost).toEqual([])
  })

  it.each(EVENTS.map((event) => [event.seq, event.type, event] as const))(
    'without event %i, %s, keeps every other that does not hang on it',
    async (seq, type, event) => {
      const found = await salvaged(without(seq))
      expectSound(found, without(seq))
      // The last event of a log is not missed by anybody but its writer.
      const gone = EVENTS.filter((one) => found.events[one.seq] !== one).map((one) => one.seq)
      const numbersOnly = ['turn/start', 'turn/end', 'step/start', 'step/end', 'compaction/start'].includes(type)
      expect(gone).toEqual([seq, ...hangsOn(event)])
      if (seq === EVENTS.length - 1) expect(found.events).toHaveLength(seq)
      else expect(found.events[seq]?.type).toBe(numbersOnly || type === 'tool/result' ? type : LOST_EVENT_TYPE)
    },
  )

  it('ends a turn whose rest is lost, and begins the next one, in lost places', async () => {
    // From the second step of turn 1 to the answer of the first step of turn 2.
    const start = EVENTS.findIndex(({ type, data }) => type === 'step/start' && (data as { step: number }).step === 2)
    const end = EVENTS.findIndex(({ type, seq }) => type === 'tool/execution' && seq > start) - 1
    const proven = EVENTS.filter(({ seq }) => seq < start || seq > end + 3)
    const found = await salvaged(proven)
    expectSound(found, proven)
    expect(found.events.slice(end + 4)).toEqual(EVENTS.slice(end + 4))
    const made = found.events.slice(start, end + 4).filter(({ type }) => type !== LOST_EVENT_TYPE)
    expect(made.map(({ type, data }) => [type, data])).toEqual([
      ['turn/end', { turn: 1, reason: { kind: 'interrupted' } }],
      ['turn/start', { turn: 2 }],
      ['step/start', { turn: 2, step: 1 }],
    ])
    expect(made.at(-1)?.seq).toBe(end + 3)
    expect(found.log.lost).toEqual([
      expect.objectContaining({ from: start, to: end + 3 }),
      ...made.map(({ type, seq }) => ({
        from: seq,
        to: seq,
        message: `the stand-in is ${type}, without which what follows could not stay`,
      })),
    ])
  })

  it('makes whole turns again that are lost, so that those behind keep their numbers', async () => {
    const second = EVENTS.findIndex(({ type, data }) => type === 'turn/start' && (data as { turn: number }).turn === 2)
    const fourth = EVENTS.findIndex(({ type, data }) => type === 'turn/start' && (data as { turn: number }).turn === 4)
    const proven = EVENTS.filter(({ seq }) => seq < second || seq >= fourth)
    const found = await salvaged(proven)
    expectSound(found, proven)
    expect(found.events.slice(fourth)).toEqual(EVENTS.slice(fourth))
  })

  it('makes what is needed in lost places that do not touch each other', async () => {
    // The start of the turn and of its step, with the prompt and a note of an extension between and behind.
    const persistence = await openMemory({ events: { 'acme/note': { ignorable: true } } })
    const session = await persistence.create({ id: 'x' })
    session.append('turn/start', { turn: 1 })
    session.append('acme/note' as never, {} as never)
    session.append('step/start', { turn: 1, step: 1 })
    session.append('user/message', { turn: 1, step: 1, message: user('the prompt') })
    session.append('step/end', { turn: 1, step: 1 })
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    await session.close()
    const stored = await collect(persistence.read('x'))
    const found = await salvaged(stored.filter(({ seq }) => seq !== 0 && seq !== 2))
    expect(found.events.map(({ type, data }) => [type, data])).toEqual(stored.map(({ type, data }) => [type, data]))
  })

  it('never calls a call safe to run whose record may be lost', async () => {
    const lost = EVENTS.filter(({ type, data }) => {
      const { turn, callId } = data as { readonly turn?: number; readonly callId?: string }
      return turn === 1 && callId === 'b' && type.startsWith('tool/')
    })
    expect(lost.map(({ type }) => type)).toEqual(['tool/call', 'tool/result'])
    const found = await salvaged(without(...lost.map(({ seq }) => seq)))
    const result = found.events.find(({ type, seq }) => type === 'tool/result' && lost.some((one) => one.seq === seq))
    expect(result).toMatchObject({ data: { callId: 'b', synthetic: { tier: 'outcome-unknown' } } })
    expect(JSON.stringify(result?.data)).toMatch(
      /lost when the log of the session was damaged.*do not just call it again/,
    )
    expect(JSON.stringify(result?.data)).not.toMatch(/never started|interrupted before/)
  })

  describe('at the end, where the start of an open call may be lost', () => {
    const calls = EVENTS.findIndex(({ type }) => type === 'tool/call')
    const upTo = (end: number): readonly AnySessionEvent[] => EVENTS.slice(0, end)
    const tiers = ({ events }: Salvaged): readonly string[] => {
      const fold = new LogFold()
      for (const event of events) fold.accept(event)
      return fold.openCalls().map(({ tier }) => tier)
    }

    it('leaves a stand-in, without which a resume would call it never begun', async () => {
      const found = await salvaged(upTo(calls), { isEndLost: (seen) => seen === calls })
      expect(found.events.slice(calls)).toMatchObject([{ seq: calls, type: LOST_EVENT_TYPE, ignorable: true }])
      expect(found.log.lost).toEqual([
        { from: calls, to: calls, message: expect.stringMatching(/^a stand-in ends the log/) as string },
      ])
      expect(tiers(found)).toEqual(['outcome-unknown', 'outcome-unknown'])
      // Repaired again there is nothing to be done.
      expect((await salvaged(found.events)).log.lost).toEqual([])
    })

    it('leaves none where nothing is lost there, or nothing could be said of a call', async () => {
      const whole = await salvaged(upTo(calls))
      expect([whole.events, tiers(whole)]).toEqual([upTo(calls), ['not-started', 'not-started']])
      for (const end of [calls - 1, calls + 2, EVENTS.length]) {
        expect((await salvaged(upTo(end), { isEndLost: () => true })).events).toEqual(upTo(end))
      }
    })

    it('leaves one where an event is given up there', async () => {
      const odd = { seq: calls, time: 1, type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }
      const found = await salvaged([...upTo(calls), odd])
      expect(found.events).toEqual([...upTo(calls), expect.objectContaining({ seq: calls, type: LOST_EVENT_TYPE })])
      expect(found.log.lost[0]).toMatchObject({ code: 'INVALID_EVENT', from: calls, to: calls })
      expect(tiers(found)).toEqual(['outcome-unknown', 'outcome-unknown'])
    })

    it('leaves one where something else is made in the place of the start', async () => {
      const from = upTo(calls - 1)
      const time = 1
      const compaction = { seq: calls - 1, time, type: 'compaction/start', data: { compactionId: 'c' } }
      const answer = { ...(EVENTS[calls - 1] as AnySessionEvent), seq: calls }
      const next = { seq: calls + 2, time, type: 'compaction/start', data: { compactionId: 'd' } }
      const found = await salvaged([...from, compaction, answer, next])
      expect(found.events.slice(calls + 1).map(({ type }) => type)).toEqual([
        'compaction/end',
        'compaction/start',
        LOST_EVENT_TYPE,
      ])
      expect(tiers(found)).toEqual(['outcome-unknown', 'outcome-unknown'])
    })

    it('needs none where the stand-in of the start is there already', async () => {
      const found = await salvaged(upTo(calls + 2).filter(({ seq }) => seq !== calls))
      expect(found.events).toHaveLength(calls + 2)
      expect(tiers(found)).toEqual(['outcome-unknown', 'outcome-unknown'])
    })
  })

  it('gives up what the grammar refuses, and nothing else, where every event is there', async () => {
    const start = EVENTS.findIndex(({ type, data }) => type === 'turn/start' && (data as { turn: number }).turn === 2)
    const edited = EVENTS.map((event) => (event.seq === start ? { ...event, data: { turn: 3 } } : event))
    const found = await salvaged(edited)
    expectSound(found, edited)
    expect(found.log.lost).toEqual([
      {
        code: 'INVALID_EVENT',
        from: start,
        to: start,
        message: expect.stringMatching(
          /^an event that cannot follow what stands before \(turn\/start at seq/,
        ) as string,
      },
      expect.objectContaining({ from: start, to: start }),
    ])
    expect(found.events.map(({ type, data }) => [type, data])).toEqual(EVENTS.map(({ type, data }) => [type, data]))
  })

  it('gives open calls the result of an interruption, in the format of the log', async () => {
    const [first, second] = EVENTS.filter(({ type }) => type === 'tool/result').map(({ seq }) => seq)
    const found = await salvaged(without(first ?? -1, second ?? -1))
    expect(found.events.filter(({ type }) => type === LOST_EVENT_TYPE)).toEqual([])
    expect(found.events[first ?? -1]).toMatchObject({
      type: 'tool/result',
      data: { callId: 'a', message: { role: 'tool' }, synthetic: { tier: 'reconcile', externalId: 'x' } },
    })
    const acme = { ...plain, name: 'acme', toolResult: () => 'stopped' }
    const formats = { messageFormat: 'acme', messageFormats: new Map([['acme', acme]]) }
    const given = await salvaged(without(first ?? -1, second ?? -1), formats)
    expect(given.events[second ?? -1]).toMatchObject({ type: 'tool/result', data: { callId: 'b', message: 'stopped' } })
    // In a format that is not known no message is made up, and the calls stay open.
    const rest = without(first ?? -1, second ?? -1)
    const unknown = await salvaged(rest, { messageFormat: 'acme' })
    expectSound(unknown, rest)
    expect(unknown.events.filter(({ type }) => type === 'tool/result')).toEqual([])
  })

  it('makes nothing of what a format should not have made, as a resume does not', async () => {
    const [first, second] = EVENTS.filter(({ type }) => type === 'tool/result').map(({ seq }) => seq)
    const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => [inner], [])
    const withToolResult = (toolResult: () => unknown): Promise<unknown> => {
      const messageFormats = new Map([['acme', { ...plain, name: 'acme', toolResult }]])
      return salvaged(without(first ?? -1, second ?? -1), { messageFormat: 'acme', messageFormats })
    }
    const thrower = (): unknown => ({
      get text() {
        throw new Error('no')
      },
    })
    for (const made of [() => ({ a: 1n }), () => Number.NaN, () => new Date(0), () => new Map(), thrower]) {
      await expect(withToolResult(made)).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    }
    for (const made of [() => deep, () => 'x'.repeat(LIMITS.eventBytes + 1)]) {
      await expect(withToolResult(made)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    }
    const none = (): never => {
      throw new Error('no')
    }
    await expect(withToolResult(none)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  describe('outside of steps, where each answer is its own scope of call ids', () => {
    const asked = (name: string, file = 'a') => ({ callId: 'call_0', name, arguments: { file } })
    const answer = (call: ReturnType<typeof asked>) =>
      ['assistant/message', { message: assistant(call.name), toolCalls: [call] }] as const
    const begun = (call: ReturnType<typeof asked>) => ['tool/call', { ...call, effect: 'read-only' }] as const
    const result = (content: string) => ['tool/result', { callId: 'call_0', message: tool(content) }] as const
    const mail = asked('send_mail')
    const file = asked('read_file')
    const rows = [answer(mail), begun(mail), result('sent'), answer(file), begun(file), result('the text')]
    const events = rows.map(([type, data], seq): AnySessionEvent => ({ seq, time: 1, type, data }))
    const kept = async (...seqs: readonly number[]): Promise<readonly (number | string)[]> => {
      const found = await salvaged(events.filter(({ seq }) => seqs.includes(seq)))
      expectSound(
        found,
        events.filter(({ seq }) => seqs.includes(seq)),
      )
      return found.events.map((event) => (event === events[event.seq] ? event.seq : event.type))
    }

    it('gives no call the beginning or the result of another one, whose answer is lost', async () => {
      expect(await kept(0, 4, 5)).toEqual([0, LOST_EVENT_TYPE])
      expect(await kept(0, 1, 4, 5)).toEqual([0, 1])
      expect(await kept(0, 1, 5)).toEqual([0, 1])
    })

    it('keeps what belongs to the call for sure', async () => {
      // It was begun with the name and the arguments that it was asked for with.
      const [ask, begin, end] = [answer(mail), begun(mail), result('sent')] as const
      const again = [ask, ['usage', {}] as const, begin, end].map(
        ([type, data], seq): AnySessionEvent => ({ seq, time: 1, type, data }),
      )
      const found = await salvaged(again.filter(({ seq }) => seq !== 1))
      expect(found.events.map(({ type }) => type)).toEqual([ask[0], LOST_EVENT_TYPE, begin[0], end[0]])
      expect(await kept(3, 4, 5)).toEqual([LOST_EVENT_TYPE, LOST_EVENT_TYPE, LOST_EVENT_TYPE, 3, 4, 5])
    })
  })

  describe('behind events that another history claimed as well', () => {
    const place = { turn: 1, step: 1 }
    const call = (to: string) => ({ callId: 'c', name: 'mail', arguments: { to } })
    const rows = (...all: readonly (readonly [type: string, data: unknown])[]): readonly AnySessionEvent[] =>
      [['turn/start', { turn: 1 }] as const, ['step/start', place] as const, ...all].map(
        ([type, data], seq): AnySessionEvent => ({ seq, time: 1, type, data }),
      )
    const answer = ['assistant/message', { ...place, message: assistant('x'), toolCalls: [call('alice')] }] as const
    const begun = (to: string) => ['tool/call', { ...place, ...call(to), effect: 'read-only' }] as const
    const result = ['tool/result', { ...place, callId: 'c', message: tool('mailed bob') }] as const
    const chunk = (text: string) => ['assistant/chunk', { ...place, kind: 'text', index: 0, text }] as const
    const kept = async (
      events: readonly AnySessionEvent[],
      joinedTo: number,
    ): Promise<readonly (number | string)[]> => {
      const found = await salvaged(events, { joinedAt: [0, joinedTo] })
      expectSound(found, events)
      return found.events.map((event) => (event === events[event.seq] ? event.seq : event.type))
    }

    it('gives no call what the other history says of its own, inside of a step either', async () => {
      expect(await kept(rows(answer, begun('bob')), 2)).toEqual([0, 1, 2, LOST_EVENT_TYPE])
      // Also where it says the same: what gave way may have been this call's own beginning.
      expect(await kept(rows(answer, begun('alice')), 2)).toEqual([0, 1, 2, LOST_EVENT_TYPE])
      expect(await kept(rows(answer, begun('alice'), result), 3)).toEqual([0, 1, 2, 3])
      expect(await kept(rows(answer, begun('alice'), result), 1)).toEqual([0, 1, 2, 3, 4])
    })

    it('joins no unfinished answer with the rest of another one', async () => {
      expect(await kept(rows(chunk('You should '), chunk('run'), chunk(' it')), 2)).toEqual([
        0,
        1,
        2,
        LOST_EVENT_TYPE,
        4,
      ])
      expect(await kept(rows(chunk('You should '), chunk('run'), chunk(' it')), 1)).toEqual([
        0,
        1,
        LOST_EVENT_TYPE,
        3,
        4,
      ])
      const again = ['request/sent', { ...place, attempt: 1 }] as const
      expect(await kept(rows(chunk('You should '), again, chunk('run')), 2)).toEqual([0, 1, 2, 3, 4])
    })
  })

  it('believes no seq that would fill the disk', async () => {
    const [first, ...rest] = EVENTS
    if (first === undefined) throw new Error('there are no events')
    const forged = { seq: 1e9, time: 1, type: 'turn/start', data: { turn: 2 } }
    const found = await salvaged([first, ...rest.slice(0, 3), forged], { missingMax: 10 })
    expect(found.events).toEqual(EVENTS.slice(0, 4))
    expect(found.log.lost).toEqual([
      expect.objectContaining({ from: 4, to: 1e9 - 1 }),
      {
        from: 1e9,
        to: 1e9,
        message: 'events that were found behind them are not kept: the original holds them',
      },
    ])
    // And no number that would.
    const far = EVENTS.map((event) =>
      event.seq === 40 ? { ...event, type: 'turn/start', data: { turn: 1e9 } } : event,
    )
    expectSound(await salvaged(far.filter(({ seq }) => seq !== 39)), [])
  })

  it('ends, also where every event asks for a million turns before it', async () => {
    const [first] = EVENTS
    if (first === undefined) throw new Error('there are no events')
    const forged = Array.from({ length: 20_000 }, (_, index) => {
      return { seq: 1_000_000 + index, time: 1, type: 'turn/start', data: { turn: 400_000 + index, step: index } }
    })
    const log = new SalvagedLog({ judged: true, messageFormat: 'plain', missingMax: 1_000_000 })
    const found = async function* (): AsyncGenerator<AnySessionEvent[]> {
      yield [first, ...forged]
    }
    let next = 0
    for await (const page of log.pages(found())) for (const { seq } of page) expect(seq).toBe(next++)
    expect(next).toBe(log.kept)
  })

  it('gives out pages of a thousand events, however many are lost', async () => {
    const log = new SalvagedLog({ judged: true, messageFormat: 'plain', missingMax: 50_000 })
    const found = async function* (): AsyncGenerator<AnySessionEvent[]> {
      yield [...EVENTS, { seq: 50_000, time: 1, type: 'session/title', data: { title: 'far away' } }]
    }
    const pages = await collect(log.pages(found()))
    expect(pages.slice(0, -1).every(({ length }) => length === 1000)).toBe(true)
    expect(pages.at(-1)).toHaveLength(1)
    expect(log.kept).toBe(50_001)
    expect(pages.flat().every(({ seq }, index) => seq === index)).toBe(true)
  })

  it('gives out pages that a batch can hold, and what is large alone', async () => {
    const text = 'x'.repeat(3 * 1024 * 1024)
    const sizes = [1, 1, 1, 1, 1, 1, 9, 1, 1]
    const events = sizes.map((size, index) => ({
      seq: index + 1,
      time: 1,
      type: 'user/message',
      data: { message: user(text.repeat(size)) },
    }))
    const log = new SalvagedLog({ judged: true, messageFormat: 'plain', missingMax: 1 })
    const found = async function* (): AsyncGenerator<AnySessionEvent[]> {
      yield events
    }
    const pages = await collect(log.pages(found()))
    expect(pages.map((page) => page.map(({ seq }) => seq))).toEqual([[0, 1, 2, 3, 4, 5], [6], [7], [8, 9]])
  })

  it('keeps what is of another version as it is', async () => {
    const found = await salvaged(without(1), { judged: false })
    expect(found.events.filter((event) => EVENTS[event.seq] !== event).map(({ type }) => type)).toEqual([
      LOST_EVENT_TYPE,
    ])
  })

  it('makes a legal log of any rest, and names whatever it gives up', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(EVENTS.length - 1), fc.integer({ min: 1, max: 12 })), { maxLength: 6 }),
        async (holes) => {
          const proven = EVENTS.filter(({ seq }) => !holes.some(([from, count]) => from <= seq && seq < from + count))
          expectSound(await salvaged(proven), proven)
          // The same without what shows that something is missing.
          const renumbered = proven.map((event, seq) => ({ ...event, seq }))
          expectSound(await salvaged(renumbered), renumbered)
        },
      ),
      { numRuns: 500 * SCALE },
    )
  })
})
