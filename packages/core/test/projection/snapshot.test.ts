// Proves that a restored snapshot is the fold it was taken of, at every prefix, and that a bad one is only ignored.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSessionError } from '../../src/errors.ts'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import type { Projection } from '../../src/projection/projection.ts'
import { parseSnapshot, snapshotText } from '../../src/projection/snapshot.ts'
import { log } from './log.ts'
import { NaiveLog } from './naive-log.ts'
import { grow, proposals, SCALE } from './proposals.ts'

const CRC = '0badf00d'

/** Counts events by type: a projection with its own saved form. */
const census: Projection<ReadonlyMap<string, number>> = {
  name: 'census',
  version: 3,
  initial: () => new Map(),
  apply: (state, { type }) => new Map(state).set(type, (state.get(type) ?? 0) + 1),
  save: (state) => [...state],
  load: (saved) => new Map(saved as [string, number][]),
}

const seen: Projection<number> = {
  name: 'seen',
  version: 1,
  chunks: true,
  initial: () => 0,
  apply: (state) => state + 1,
}

const GIVEN = [census, seen]

function text(fold: LogFold): string {
  return snapshotText(fold, { seq: fold.nextSeq - 1, crc: CRC })
}

function answers(fold: LogFold): unknown {
  return {
    nextSeq: fold.nextSeq,
    lastTime: fold.lastTime,
    surface: fold.surface(),
    context: fold.modelContext(),
    last: fold.lastRequest(),
    calls: fold.openCalls(),
    usage: fold.usage(),
    summary: fold.summary(),
    openTurn: fold.openTurn,
    stable: fold.isStable,
    answerStart: fold.answerStart,
    attempt: fold.attempt,
    given: fold.projections.map((projection) => fold.state(projection)),
    saved: (JSON.parse(text(fold)) as { document: unknown }).document,
  }
}

function restored(fold: LogFold): LogFold {
  const snapshot = parseSnapshot(text(fold), GIVEN)
  if (snapshot === undefined) throw new Error('the snapshot was refused')
  expect(snapshot.head).toEqual({ seq: fold.nextSeq - 1, crc: CRC })
  return snapshot.restore()
}

const SMALL: readonly AnySessionEvent[] = log(
  ['request/header', { model: 'm', tools: [] }],
  ['session/labels', { labels: { a: '1' } }],
  ['turn/start', { turn: 1 }],
  ['user/message', { turn: 1, message: 'first marker-1' }],
  ['step/start', { turn: 1, step: 1 }],
  ['request/sent', { turn: 1, step: 1, attempt: 1 }],
  [
    'assistant/message',
    {
      turn: 1,
      step: 1,
      message: 'answer',
      toolCalls: [
        { callId: 'a', name: 't', arguments: { x: 1 } },
        { callId: 'b', name: 't', arguments: null },
      ],
    },
  ],
  ['tool/call', { turn: 1, step: 1, callId: 'a', name: 't', arguments: {}, effect: 'idempotent', idempotencyKey: 'k' }],
  ['tool/execution', { turn: 1, step: 1, callId: 'a', state: 'external', externalId: 'e' }],
  ['tool/result', { turn: 1, step: 1, callId: 'b', message: 'b done' }],
  ['compaction/start', { turn: 1, compactionId: 'c' }],
)

function foldOf(events: readonly AnySessionEvent[], given: readonly Projection[] = GIVEN): LogFold {
  const fold = new LogFold(given)
  for (const event of events) fold.accept(event)
  return fold
}

describe('snapshots', () => {
  it('equal a refold at every prefix, and go on alike', () => {
    fc.assert(
      fc.property(proposals, fc.nat(), (steps, cut) => {
        const { events } = grow(new NaiveLog(), steps)
        if (events.length === 0) return
        const fold = new LogFold(GIVEN)
        const branchAt = cut % events.length
        let branch: LogFold | undefined
        for (const event of events) {
          fold.accept(event)
          branch?.accept(event)
          expect(answers(restored(fold))).toEqual(answers(fold))
          if (event.seq === branchAt) branch = restored(fold)
        }
        expect(branch && answers(branch)).toEqual(answers(fold))
      }),
      { numRuns: 100 * SCALE, seed: 20_240_602 },
    )
  })

  it('store each message once, although the last request names it too', () => {
    expect(text(foldOf(SMALL)).match(/marker-1/g)).toHaveLength(1)
  })

  it('store what only the last request still knows', () => {
    const fold = foldOf(
      [...SMALL, ...log(['surface/remove', { start: 3, end: 3 }])].map((event, seq) => ({ ...event, seq })),
    )
    const again = restored(fold)
    expect(again.messages()).toEqual(['answer', 'b done'])
    expect(again.lastRequest()?.context.messages).toEqual(['first marker-1'])
  })

  it('restore independent folds, each time anew', () => {
    const snapshot = parseSnapshot(text(foldOf(SMALL)), GIVEN)
    const one = snapshot?.restore()
    const other = snapshot?.restore()
    const next = {
      seq: SMALL.length,
      time: 5,
      type: 'tool/result',
      data: { turn: 1, step: 1, callId: 'a', message: 1 },
    }
    one?.accept(next)
    expect(one?.openCalls()).toEqual([])
    expect(other?.openCalls().map((call) => call.callId)).toEqual(['a'])
    expect(one?.messages()).toHaveLength(4)
    expect(other?.messages()).toHaveLength(3)
  })

  it('freeze what they restore, as events are frozen', () => {
    const entries = restored(foldOf(SMALL)).openCalls()
    expect(Object.isFrozen(entries[0]?.arguments)).toBe(true)
  })

  it('need the receipt of the last event', () => {
    const fold = foldOf(SMALL)
    const attempt = (): string => snapshotText(fold, { seq: 3, crc: CRC })
    expect(attempt).toThrow(expect.objectContaining({ code: 'INVARIANT', expected: SMALL.length - 1, found: 3 }))
  })

  it('are ignored when a projection is missing or has another version', () => {
    const good = text(foldOf(SMALL))
    expect(parseSnapshot(good, GIVEN)).toBeDefined()
    expect(parseSnapshot(good, [])).toBeDefined()
    expect(parseSnapshot(good, [{ ...census, version: 4 }])).toBeUndefined()
    expect(parseSnapshot(good, [...GIVEN, { ...seen, name: 'new' }])).toBeUndefined()
    expect(parseSnapshot(text(foldOf(SMALL, [])), GIVEN)).toBeUndefined()
  })

  it('are ignored when a projection refuses its state', () => {
    const refusing: Projection<number> = {
      ...seen,
      load() {
        throw new Error('not mine')
      },
    }
    expect(parseSnapshot(text(foldOf(SMALL, [seen])), [refusing])).toBeUndefined()
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{"snapshot":1,'],
    ['null', 'null'],
    ['a list', '[]'],
    ['another version', '{"snapshot":2,"seq":0,"crc":"00000000","states":[]}'],
    ['no states', '{"snapshot":1,"seq":0,"crc":"00000000"}'],
    ['states without projections', '{"snapshot":1,"seq":0,"crc":"00000000","states":[null,1,{}]}'],
    ['200,000 levels', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['a deep state', `{"snapshot":1,"seq":0,"crc":"0","states":${'[{"a":'.repeat(5_000)}1${'}]'.repeat(5_000)}}`],
  ])('are ignored when they hold %s', (_, hostile) => {
    expect(parseSnapshot(hostile, [])).toBeUndefined()
  })

  it('never throw, and never restore a fold that throws anything but SessionError, whatever is changed in them', () => {
    const good = JSON.parse(text(foldOf(SMALL)))
    const places = pathsOf(good)
    const hostile = fc.oneof(
      fc.constantFrom<unknown>(null, -1, 1.5, 2 ** 53, '', 'x', [], {}, true, [null], { length: 3 }, [[]]),
      fc.jsonValue(),
    )
    let restoredCount = 0
    fc.assert(
      fc.property(fc.constantFrom(...places), hostile, fc.boolean(), (path, value, remove) => {
        const snapshot = parseSnapshot(JSON.stringify(changed(good, path, value, remove)), GIVEN)
        if (snapshot === undefined) return
        restoredCount += 1
        const fold = snapshot.restore()
        answers(fold)
        for (const type of ['tool/result', 'step/end', 'turn/end', 'user/message', 'assistant/message']) {
          const data = { turn: 1, step: 1, callId: 'a', message: 1, toolCalls: [], reason: { kind: 'completed' } }
          try {
            fold.accept({ seq: fold.nextSeq, time: 1, type, data })
          } catch (error) {
            expect(isSessionError(error)).toBe(true)
          }
        }
      }),
      { numRuns: 2_000 * SCALE, seed: 20_240_603 },
    )
    expect(restoredCount).toBeGreaterThan(0)
  })
})

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))]
}

function changed(value: unknown, [key, ...rest]: readonly string[], other: unknown, remove: boolean): unknown {
  if (key === undefined) return other
  const copy: Record<string, unknown> & unknown[] = structuredClone(value) as never
  if (remove && rest.length === 0) {
    if (Array.isArray(copy)) copy.splice(Number(key), 1)
    else delete copy[key as never]
  } else copy[key as never] = changed(copy[key as never], rest, other, remove) as never
  return copy
}
