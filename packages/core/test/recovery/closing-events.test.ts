// Proves what closes an open turn: its parts, their order, the tier of each call, in every core message format.
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import type { CallTier, TurnEndReason } from '../../src/event/vocabulary.ts'
import { coreMessageFormats } from '../../src/message-format/core-formats.ts'
import { plain } from '../../src/message-format/plain.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import { PartialAnswer } from '../../src/projection/partial-answer.ts'
import type { ClosingOptions } from '../../src/recovery/closing-events.ts'
import { closingEvents } from '../../src/recovery/closing-events.ts'
import { log } from '../projection/log.ts'

type Row = readonly [type: string, data: unknown, options?: object]

const place = { turn: 1, step: 1 }
const START: readonly Row[] = [
  ['request/header', { model: 'model-9' }],
  ['turn/start', { turn: 1 }],
  ['user/message', { turn: 1, message: { role: 'user', content: 'go' } }],
  ['step/start', place],
  ['request/sent', { ...place, attempt: 1 }],
]
const ids = ['fresh', 'reader', 'keyed', 'external', 'plain']
const ANSWER: Row = [
  'assistant/message',
  { ...place, message: 'answer', toolCalls: ids.map((callId) => ({ callId, name: `tool-${callId}`, arguments: {} })) },
]
const begin = (callId: string, facts: object = {}): Row => [
  'tool/call',
  { ...place, callId, name: `tool-${callId}`, arguments: {}, ...facts },
]
/** Five calls, one for each way in which a call can be left. */
const CALLS: readonly Row[] = [
  ...START,
  ANSWER,
  begin('plain', { effect: 'side-effect' }),
  begin('external'),
  begin('keyed', { effect: 'idempotent', idempotencyKey: 'key-1' }),
  begin('reader', { effect: 'read-only' }),
  ['tool/execution', { ...place, callId: 'plain', state: 'started' }],
  ['tool/execution', { ...place, callId: 'external', state: 'external', externalId: 'job-0' }],
  ['tool/execution', { ...place, callId: 'external', state: 'external', externalId: 'job-7' }],
  ['tool/execution', { ...place, callId: 'keyed', state: 'external', externalId: 'job-8' }],
  // Later news without an id does not take the id away.
  ['tool/execution', { ...place, callId: 'external', state: 'started' }],
]
const chunk = (kind: string, index: number, text: string): Row => ['assistant/chunk', { ...place, kind, index, text }]

function folded(rows: readonly Row[]): { readonly fold: LogFold; readonly partial: PartialAnswer } {
  const fold = new LogFold()
  const partial = new PartialAnswer()
  for (const event of log(...rows)) {
    fold.accept(event)
    partial.accept(event)
  }
  return { fold, partial }
}

function closers(rows: readonly Row[], options: Partial<ClosingOptions> = {}): ReturnType<typeof closingEvents> {
  const { fold, partial } = folded(rows)
  const events = closingEvents(fold, {
    reason: { kind: 'interrupted' },
    format: plain,
    blocks: partial.blocks(),
    keepPartialAnswer: true,
    ...options,
  })
  // Whatever closes must pass the grammar, leave nothing open, and have nothing to add when asked again.
  const after = fold.clone()
  for (const input of events) after.accept({ seq: after.nextSeq, time: 1, ...input } as AnySessionEvent)
  expect(after.isStable).toBe(true)
  expect(after.openCalls()).toEqual([])
  const again = closingEvents(after, {
    reason: { kind: 'interrupted' },
    format: undefined,
    blocks: [],
    keepPartialAnswer: true,
  })
  expect(again).toEqual([])
  return events
}

const types = (events: readonly { readonly type: string }[]): string[] => events.map((event) => event.type)

describe('closing a turn with open calls', () => {
  it('answers them in transcript order, then ends step and turn', () => {
    const events = closers(CALLS)
    expect(types(events)).toEqual([...ids.map(() => 'tool/result'), 'step/end', 'turn/end'])
    expect(events.flatMap(({ data }) => ('callId' in data ? [data.callId] : []))).toEqual(ids)
    expect(events.at(-2)?.data).toEqual(place)
    expect(events.at(-1)?.data).toEqual({ turn: 1, reason: { kind: 'interrupted' } })
  })

  it('says of each what may be assumed', () => {
    const synthetic = closers(CALLS).flatMap(({ data }) => ('synthetic' in data ? [data.synthetic] : []))
    expect(synthetic).toEqual([
      { tier: 'not-started' },
      { tier: 'safe-to-retry' },
      // Safe to run again is the stronger fact, but both keys are kept.
      { tier: 'safe-to-retry', idempotencyKey: 'key-1', externalId: 'job-8' },
      { tier: 'reconcile', externalId: 'job-7' },
      { tier: 'outcome-unknown' },
    ])
  })

  it.each<[CallTier, RegExp]>([
    ['not-started', /never started.* safe to call it/],
    ['safe-to-retry', /may have run.* calling it again .*does no harm/],
    ['reconcile', /may have taken effect.* job-7 /],
    ['outcome-unknown', /may have taken effect.* verify .* do not just call it again/],
  ])('tells the model in a sentence: %s', (tier, sentence) => {
    const texts = closers(CALLS)
      .filter((event) => event.type === 'tool/result')
      .flatMap(({ data }) => (data.synthetic?.tier === tier ? [plain.text(data.message)] : []))
    expect(texts.length).toBeGreaterThan(0)
    for (const text of texts) expect(text).toMatch(sentence)
  })

  it.each(coreMessageFormats.map((format) => [format.name, format] as const))('writes %s', (_, format) => {
    for (const { type, data } of closers(CALLS, { format })) {
      if (type !== 'tool/result' || !('message' in data) || data.synthetic === undefined) continue
      expect(format.text(data.message)).toMatch(/^There is no result, because .*\. The tool .*\.$/)
      const call = { callId: data.callId, name: `tool-${data.callId}`, arguments: {} }
      const outcome = { kind: 'interrupted', ...data.synthetic, text: format.text(data.message) } as const
      expect(data.message).toEqual(format.toolResult(call, outcome))
    }
  })

  it.each<[TurnEndReason, RegExp]>([
    [{ kind: 'interrupted' }, /session was interrupted/],
    [{ kind: 'cancelled', cause: 'user' }, /turn was cancelled/],
    [{ kind: 'failed', error: { code: 'X' } }, /turn failed/],
    [{ kind: 'completed' }, /session was interrupted/],
    [{ kind: 'max-tokens' }, /session was interrupted/],
  ])('says why: %o', (reason, sentence) => {
    const events = closers(CALLS, { reason })
    expect(events.at(-1)?.data).toEqual({ turn: 1, reason })
    const [first] = events
    expect(plain.text(first?.type === 'tool/result' ? first.data.message : undefined)).toMatch(sentence)
  })

  it('takes a real result where one was found', () => {
    const results = new Map([['external', { message: 'it worked', meta: { took: 3 } }]])
    const events = closers(CALLS, { results })
    const result = events.find(({ data }) => 'callId' in data && data.callId === 'external')
    expect(result?.data).toEqual({ ...place, callId: 'external', message: 'it worked', meta: { took: 3 } })
  })

  it('needs no format when every result is real', () => {
    const results = new Map(ids.map((id) => [id, { message: id, error: { code: 'E' } }]))
    expect(types(closers(CALLS, { results, format: undefined }))).toHaveLength(7)
  })

  it('refuses with NOT_SUPPORTED where a message is needed in a format that is not there', () => {
    expect(() => closers(CALLS, { format: undefined })).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
  })
})

describe('closing an unfinished answer', () => {
  const streamed: readonly Row[] = [
    ...START,
    chunk('reasoning', 0, 'hm'),
    chunk('text', 1, 'Hel'),
    chunk('text', 1, 'lo'),
  ]

  it.each(coreMessageFormats.map((format) => [format.name, format] as const))('keeps its text in %s', (_, format) => {
    const events = closers(streamed, { format })
    expect(types(events)).toEqual(['assistant/message', 'step/end', 'turn/end'])
    const [answer] = events
    expect(answer?.data).toMatchObject({ ...place, toolCalls: [], model: 'model-9', interrupted: true })
    expect(answer?.type === 'assistant/message' && format.text(answer.data.message)).toContain('Hello')
  })

  it.each<[string, readonly Row[]]>([
    ['there is no text', [...START, chunk('reasoning', 0, 'hm')]],
    [
      'only half a call was streamed',
      [...START, ['assistant/chunk', { ...place, kind: 'tool-arguments', index: 0, callId: 'a', text: '{' }]],
    ],
    ['the text belongs to an earlier attempt', [...streamed, ['request/sent', { ...place, attempt: 2 }]]],
    [
      'the request has its message',
      [...streamed, ['assistant/message', { ...place, message: 'Hello', toolCalls: [] }]],
    ],
  ])('keeps nothing when %s', (_, rows) => {
    expect(types(closers(rows, { format: undefined }))).toEqual(['step/end', 'turn/end'])
  })

  it('keeps nothing of blocks that are older than the answer', () => {
    const rows: readonly Row[] = [...streamed, ['assistant/message', { ...place, message: 'Hello', toolCalls: [] }]]
    expect(types(closers(rows, { blocks: [{ kind: 'text', text: 'Hello' }] }))).toEqual(['step/end', 'turn/end'])
  })

  it('keeps nothing when told so', () => {
    expect(types(closers(streamed, { keepPartialAnswer: false }))).toEqual(['step/end', 'turn/end'])
  })

  it('keeps nothing when the format can keep none of it', () => {
    const format = { ...plain, partialAssistant: () => undefined }
    expect(types(closers(streamed, { format }))).toEqual(['step/end', 'turn/end'])
  })

  it('keeps nothing while calls are open: the step has its answer', () => {
    const rows: readonly Row[] = [
      ...START,
      ANSWER,
      ['request/sent', { ...place, attempt: 2 }],
      chunk('text', 0, 'more'),
    ]
    expect(types(closers(rows))).toEqual([...ids.map(() => 'tool/result'), 'step/end', 'turn/end'])
  })

  it('keeps the answer after the tools of the one before', () => {
    const answered = ids.map((callId): Row => ['tool/result', { ...place, callId, message: callId }])
    const rows: readonly Row[] = [
      ...START,
      ANSWER,
      ...answered,
      ['request/sent', { ...place, attempt: 2 }],
      chunk('text', 0, 'more'),
    ]
    const [first] = closers(rows)
    expect(first?.type === 'assistant/message' && plain.text(first.data.message)).toBe('more')
  })
})

describe('closing what else is open', () => {
  it('ends a compaction before step and turn', () => {
    const events = closers([...START, ['compaction/start', { ...place, compactionId: 'c-1' }]])
    expect(types(events)).toEqual(['compaction/end', 'step/end', 'turn/end'])
    expect(events[0]?.data).toEqual({ ...place, compactionId: 'c-1', outcome: 'interrupted' })
  })

  it('ends a turn without a step', () => {
    expect(types(closers([['turn/start', { turn: 1 }]]))).toEqual(['turn/end'])
  })

  it('ends a compaction and answers calls outside a turn, without ending one', () => {
    const outside = { message: 'm', toolCalls: [{ callId: 'a', name: 't', arguments: 1 }] }
    const events = closers([
      ['assistant/message', outside],
      ['compaction/start', {}],
    ])
    expect(types(events)).toEqual(['tool/result', 'compaction/end'])
    expect(events[0]?.data).toMatchObject({ callId: 'a', synthetic: { tier: 'not-started' } })
    expect(events[1]?.data).toEqual({ outcome: 'interrupted' })
  })

  it('adds nothing when nothing is open', () => {
    expect(closers([])).toEqual([])
    expect(
      closers([
        ['turn/start', { turn: 1 }],
        ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
      ]),
    ).toEqual([])
  })
})
