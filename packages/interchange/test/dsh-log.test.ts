// Proves how a log of DeepSeek Harness becomes events: packed rows, seqs, times, request environments, compactions,
// forks, both generations of message records, and what the grammar needs changed.
import { describe, expect, it } from 'vitest'
import { dshLog, ofType, readOne, useSourceFiles } from './source-files.ts'

const file = useSourceFiles()
const record = (type: string, data: object, more: object = {}): string => JSON.stringify({ type, ...more, data })
const STEP = record('step/start', { turn: 1, step: 1 }, { seq: 2, time: 1003 })
const ASK = record(
  'assistant/message',
  {
    turn: 1,
    step: 1,
    content: [{ type: 'tool-call', id: 'c1', name: 'bash', arguments: '{}' }],
    provenance: { provider: 'p', model: 'm' },
    usage: { inputTokens: 3, outputTokens: 4 },
  },
  { seq: 3, time: 1004, surfaceOp: 'append' },
)
const RESULT = record(
  'tool/result',
  { turn: 1, step: 1, callId: 'c1', content: [{ type: 'text', text: 'done' }], isError: true },
  { surfaceOp: 'append' },
)
const say = (text: string, more: object = {}): string =>
  record('user/message', { role: 'user', content: [{ type: 'text', text }] }, { surfaceOp: 'append', ...more })

describe('stream chunks', () => {
  it('unpacks a row into the deltas it was made of, with their seqs and times', async () => {
    const row = record(
      'tool-call-chunks',
      { turn: 1, step: 1, index: 2, dt: [5, -1], id: 'c1', name: 'bash', args: ['{', '', '}'] },
      { seq0: 3, time0: 2000 },
    )
    const { events, report } = await readOne(await file(dshLog([STEP, row])))
    expect(events.slice(3)).toEqual(
      ['{', '', '}'].map((text, at) => ({
        seq: 3 + at,
        time: [2000, 2005, 2004][at],
        type: 'assistant/chunk',
        data: { turn: 1, step: 1, kind: 'tool-arguments', index: 2, callId: 'c1', name: 'bash', text },
      })),
    )
    expect(report).toMatchObject({ records: 5, mapped: 5, kept: 0, seqGapCount: 0 })
  })

  it('keeps a row whole when its gaps do not fit its texts', async () => {
    const row = record('text-chunks', { turn: 1, step: 1, index: 0, dt: [1], texts: ['a'] }, { seq0: 3, time0: 2000 })
    const { events } = await readOne(await file(dshLog([STEP, row])))
    expect(ofType(events, 'dsh/text-chunks')).toMatchObject([{ data: JSON.parse(row), ignorable: true }])
  })

  it('keeps a chunk whose step is not open', async () => {
    const chunk = record('assistant/chunk', { turn: 2, step: 1, chunk: { type: 'text-delta', index: 0, text: 'x' } })
    const { events, report } = await readOne(await file(dshLog([STEP, chunk])))
    expect(ofType(events, 'dsh/assistant-chunk')).toHaveLength(1)
    expect(report.repairs.misplaced).toBe(1)
  })

  it('keeps what a chunk says beside its delta', async () => {
    const chunk = { type: 'text-delta', index: 0, text: 'x', extra: true }
    const { events } = await readOne(await file(dshLog([STEP, record('assistant/chunk', { turn: 1, step: 1, chunk })])))
    expect(events[3]?.data).toEqual({ turn: 1, step: 1, kind: 'other', index: 0, value: chunk })
  })
})

describe('seqs and times', () => {
  it('renumbers behind a gap, reports it, and moves references along', async () => {
    const summary = say('short', {
      seq: 12,
      time: 1010,
      sourceEventSeqs: [1, 11, 5],
      surfaceOp: { op: 'replace', start: 1, end: 11 },
    })
    const { events, report, fold } = await readOne(await file(dshLog([say('more', { seq: 11, time: 1009 }), summary])))
    expect(report.seqGaps).toEqual([{ line: 4, expected: 2, found: 11 }])
    expect(ofType(events, 'interchange/note')).toMatchObject([{ data: { kind: 'seq-gap', expected: 2, found: 11 } }])
    const last = events.at(-1)
    expect(last).toMatchObject({
      seq: 4,
      surface: { replace: [1, 3] },
      sources: [
        [1, 1],
        [3, 3],
      ],
    })
    expect(last?.data).toMatchObject({ imported: { record: { missingSources: [[5, 5]] } } })
    expect(fold.messages()).toMatchObject([{ content: [{ text: 'short' }] }])
  })

  it('appends a replacement whose range is not live, and notes the range', async () => {
    const { events, report, fold } = await readOne(
      await file(dshLog([say('a', { seq: 2, surfaceOp: { op: 'replace', start: 0, end: 0 } })])),
    )
    expect(fold.messages()).toHaveLength(2)
    expect(report.repairs.replacements).toBe(1)
    expect(ofType(events, 'interchange/note')).toMatchObject([
      { data: { kind: 'replacement-not-live', about: 2, replace: [0, 0] } },
      {},
    ])
  })

  it('gives records without a time that of the record before, and says which', async () => {
    const { events, report } = await readOne(
      await file(dshLog([say('a'), say('b', { time: 5000 }), say('c', { time: 1.5 })])),
    )
    expect(events.slice(2, 5).map((event) => event.time)).toEqual([1002, 5000, 5000])
    expect(report.missingTimes).toBe(2)
    expect(events.at(-1)).toMatchObject({
      type: 'interchange/note',
      data: {
        kind: 'inferred-times',
        ranges: [
          [2, 2],
          [4, 4],
        ],
      },
    })
    expect(events[4]?.data).toMatchObject({ imported: { record: { time: 1.5 } } })
  })
})

describe('the conversation', () => {
  it('maps answers, calls and results of the older generation', async () => {
    const call = record('tool/call', { turn: 1, step: 1, callId: 'c1', name: 'bash', arguments: '{}' })
    const { events, fold, report } = await readOne(await file(dshLog([STEP, ASK, call, RESULT])))
    expect(ofType(events, 'assistant/message')).toMatchObject([
      { data: { provider: 'p', model: 'm', toolCalls: [{ callId: 'c1', name: 'bash', arguments: '{}' }] } },
    ])
    expect(ofType(events, 'tool/result')).toMatchObject([
      {
        data: {
          callId: 'c1',
          error: { code: 'tool-error' },
          message: { content: [{ type: 'tool-result', toolCallId: 'c1', isError: true }] },
        },
      },
    ])
    expect(fold.usage().total).toMatchObject({ inputTokens: 3, outputTokens: 4 })
    expect(fold.openCalls()).toEqual([])
    expect(report.repairs).toEqual({
      boundaries: 0,
      syntheticResults: 0,
      reordered: 0,
      orphanResults: 0,
      replacements: 0,
      misplaced: 0,
    })
  })

  it('leaves an unfinished turn open with its calls', async () => {
    const { fold } = await readOne(await file(dshLog([STEP, ASK])))
    expect(fold.openTurn).toEqual({ turn: 1, step: 1 })
    expect(fold.openCalls()).toMatchObject([{ callId: 'c1', tier: 'not-started' }])
  })

  it('moves a message that interrupts a call behind its result', async () => {
    const steering = record(
      'steering/message',
      { turn: 1, content: [{ type: 'text', text: 'wait' }], source: { kind: 'user' } },
      { surfaceOp: 'append' },
    )
    const { events, report } = await readOne(await file(dshLog([STEP, ASK, steering, RESULT])))
    expect(events.slice(-3, -1).map((event) => event.type)).toEqual(['tool/result', 'user/message'])
    expect(ofType(events, 'user/message').at(-1)?.data).toMatchObject({ source: { kind: 'human', via: 'steering' } })
    expect(report.repairs.reordered).toBe(1)
  })

  it('gives calls without a result a synthetic one where the step ends', async () => {
    const { events, report } = await readOne(
      await file(
        dshLog([
          STEP,
          ASK,
          record('step/end', { turn: 1, step: 1 }),
          record('turn/end', { turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } }),
        ]),
      ),
    )
    expect(ofType(events, 'tool/result')).toMatchObject([
      { data: { callId: 'c1', synthetic: { tier: 'not-started' } } },
    ])
    expect(ofType(events, 'turn/end')).toMatchObject([{ data: { reason: { kind: 'cancelled', cause: 'user' } } }])
    expect(report.repairs.syntheticResults).toBe(1)
  })

  it('keeps a result that no answer asked for as a user message', async () => {
    const { events, report } = await readOne(await file(dshLog([STEP, RESULT])))
    expect(ofType(events, 'user/message').at(-1)).toMatchObject({
      data: { source: { kind: 'tool-result', callId: 'c1' } },
    })
    expect(report.repairs.orphanResults).toBe(1)
  })

  it('opens turn and step for an answer that stands outside', async () => {
    const { events, report } = await readOne(
      await file(
        Buffer.from(
          dshLog([ASK])
            .toString()
            .replace(/.*turn\/start.*\n/, ''),
        ),
      ),
    )
    expect(events.map((event) => event.type).filter((type) => type !== 'interchange/note')).toEqual([
      'user/message',
      'turn/start',
      'step/start',
      'assistant/message',
    ])
    expect(report.repairs.boundaries).toBe(2)
  })
})

describe('the request environment', () => {
  const header = (system: string): string =>
    record('request/header', {
      header: { config: { model: 'm', provider: 'p' }, system, tools: [], messagePrefix: ['x'] },
      reason: 'initial',
    })

  it('writes a full snapshot for a delta', async () => {
    const delta = record('request/header-delta', { system: { keepStart: 1, keepEnd: 1, insert: ['b', 'c'] } })
    const { events, fold } = await readOne(await file(dshLog([header('a\nx\ny\nd'), delta])))
    expect(ofType(events, 'request/header').map(({ data }) => data)).toMatchObject([
      {
        model: 'm',
        config: { model: 'm', provider: 'p' },
        system: 'a\nx\ny\nd',
        imported: { data: { reason: 'initial', header: { messagePrefix: ['x'] } } },
      },
      { model: 'm', system: 'a\nb\nc\nd', tools: [], imported: { data: { system: { keepStart: 1 } } } },
    ])
    expect(fold.modelContext()).toMatchObject({ model: 'm', system: 'a\nb\nc\nd' })
  })

  it.each([{ system: { keepStart: 9, keepEnd: 0, insert: [] } }, { tools: [] }, { system: 'new' }])(
    'keeps a delta that it does not understand: %j',
    async (delta) => {
      const { events } = await readOne(await file(dshLog([header('a'), record('request/header-delta', delta)])))
      expect(ofType(events, 'dsh/request-header-delta')).toHaveLength(1)
      expect(ofType(events, 'request/header')).toHaveLength(1)
    },
  )
})

describe('headers', () => {
  it('reads a fork: parent, seed length, and where it was forked', async () => {
    const end = record('session/end-seed', {}, { seq: 2, time: 1003 })
    const { header, events } = await readOne(
      await file(dshLog([end], { parentSession: 'session-0', seedLength: 2, origin: 'subagent', delegationDepth: 1 })),
    )
    expect(header).toEqual({
      version: 1,
      id: 'session-1',
      createdAt: 1000,
      messageFormat: 'dsh',
      cwd: '/work',
      parent: 'session-0',
      seedLength: 2,
      origin: 'sub-agent',
      labels: { 'imported-from': 'dsh', 'dsh.version': '0', 'dsh.delegationDepth': '1' },
    })
    expect(events[2]).toMatchObject({ type: 'session/forked', data: { parent: 'session-0', at: 1 } })
  })

  it('gives a placeholder id the hash of the content', async () => {
    const [a, b] = [
      await readOne(await file(dshLog([], { id: '{{sessionId}}' }))),
      await readOne(await file(dshLog([STEP], { id: '{{sessionId}}' }))),
    ]
    expect(a.header.id).toMatch(/^dsh-[0-9a-f]{12}$/)
    expect(b.header.id).not.toBe(a.header.id)
    expect(a.header.labels).toMatchObject({ 'dsh.id': '{{sessionId}}' })
  })

  it('reads a log without its first line', async () => {
    const { header, events } = await readOne(await file(dshLog([STEP]).toString().split('\n').slice(1).join('\n')))
    expect(header.id).toMatch(/^dsh-/)
    expect(events).toHaveLength(3)
  })

  it('keeps a header that does not fit ours as an event, too', async () => {
    const { events, header } = await readOne(await file(dshLog([], { agentPreset: 'p'.repeat(5000) })))
    expect(ofType(events, 'dsh/session')).toHaveLength(1)
    expect(JSON.stringify(header).length).toBeLessThan(1000)
  })
})
