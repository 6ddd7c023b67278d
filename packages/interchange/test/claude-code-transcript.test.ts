// Proves how a Claude Code transcript becomes sessions: answers in several lines, turns, branches, sub-agents, compaction,
// results out of place, copies of resumed transcripts.
import { describe, expect, it } from 'vitest'
import { ofType, readAll, readOne, useSourceFiles } from './source-files.ts'

const file = useSourceFiles()

let clock = 0
interface Line {
  readonly uuid: string
  readonly parent?: string | null
  readonly more?: object
}
const line = (type: string, { uuid, parent = null, more = {} }: Line, message: object): string =>
  JSON.stringify({
    parentUuid: parent,
    isSidechain: false,
    sessionId: 's1',
    cwd: '/work',
    version: '2.0.0',
    type,
    message,
    uuid,
    timestamp: new Date(Date.UTC(2026, 0, 1) + 1000 * clock++).toISOString(),
    ...more,
  })
const user = (text: string, place: Line): string => line('user', place, { role: 'user', content: text })
const answer = (id: string, blocks: readonly object[], place: Line, more: object = {}): string =>
  line('assistant', place, {
    id,
    role: 'assistant',
    model: 'claude',
    content: blocks,
    usage: { input_tokens: 1, output_tokens: 2 },
    ...more,
  })
const text = (words: string): object => ({ type: 'text', text: words })
const use = (id: string): object => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } })
const result = (id: string, place: Line): string =>
  line('user', place, { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] })
const types = (events: readonly { readonly type: string }[]): string[] => events.map((event) => event.type)

describe('answers', () => {
  it('makes one message of the lines that share an id, and counts its tokens once, by the last line', async () => {
    const { events, fold } = await readOne(
      await file(
        [
          user('go', { uuid: 'u1' }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          answer('m1', [use('c1')], { uuid: 'a2', parent: 'a1' }),
          result('c1', { uuid: 'r1', parent: 'a2' }),
          answer(
            'm1',
            [use('c2')],
            { uuid: 'a3', parent: 'a2' },
            { usage: { input_tokens: 1, output_tokens: 9 }, stop_reason: 'tool_use' },
          ),
          result('c2', { uuid: 'r2', parent: 'a3' }),
          answer('m2', [text('done')], { uuid: 'a4', parent: 'r2' }),
        ].join('\n'),
      ),
    )
    expect(types(events)).toEqual([
      'turn/start',
      'user/message',
      'step/start',
      'assistant/message',
      'tool/call',
      'tool/call',
      'tool/result',
      'tool/result',
      'step/end',
      'step/start',
      'assistant/message',
      'step/end',
      'turn/end',
    ])
    const [first] = ofType(events, 'assistant/message')
    expect(first?.data).toMatchObject({
      provider: 'anthropic',
      model: 'claude',
      message: { content: [text('a'), use('c1'), use('c2')], stop_reason: 'tool_use' },
      toolCalls: [{ callId: 'c1', name: 'Bash' }, { callId: 'c2' }],
      imported: [{ uuid: 'a1', blocks: 1 }, { uuid: 'a2' }, { uuid: 'a3', parentUuid: 'a2' }],
    })
    expect(fold.usage()).toMatchObject({ answers: 2, total: { outputTokens: 11 } })
  })

  it('puts a copy from a resumed transcript aside, but counts its tokens', async () => {
    const { events, fold, report } = await readOne(
      await file(
        [
          user('go', { uuid: 'u1' }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          answer('m1', [text('a')], { uuid: 'b1' }, { usage: { input_tokens: 1, output_tokens: 7 } }),
          user('next', { uuid: 'u2', parent: 'b1' }),
        ].join('\n'),
      ),
    )
    expect(ofType(events, 'assistant/message')).toMatchObject([{ data: { message: { content: [text('a')] } } }])
    expect(ofType(events, 'claude-code/duplicate')).toHaveLength(1)
    expect(report.duplicates).toBe(1)
    expect(fold.usage().total.outputTokens).toBe(7)
  })

  it('keeps equal blocks of one answer that follow each other', async () => {
    const { events } = await readOne(
      await file(
        [
          user('go', { uuid: 'u' }),
          answer('m', [text('a')], { uuid: 'a', parent: 'u' }),
          answer('m', [text('a')], { uuid: 'b', parent: 'a' }),
        ].join('\n'),
      ),
    )
    expect(ofType(events, 'assistant/message')).toMatchObject([
      { data: { message: { content: [text('a'), text('a')] } } },
    ])
  })
})

describe('turns', () => {
  const turnEnds = (events: Parameters<typeof ofType>[0]): unknown[] =>
    ofType(events, 'turn/end').map(({ data }) => (data as { reason: unknown }).reason)

  it('ends a turn at the next prompt, and the last one when its answer is there', async () => {
    const { events, fold } = await readOne(
      await file(
        [
          user('one', { uuid: 'u1' }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          user('two', { uuid: 'u2', parent: 'a1' }),
          answer('m2', [text('b')], { uuid: 'a2', parent: 'u2' }, { stop_reason: 'max_tokens' }),
        ].join('\n'),
      ),
    )
    expect(turnEnds(events)).toEqual([{ kind: 'completed' }, { kind: 'max-tokens' }])
    expect(fold.summary()).toMatchObject({ turns: 2, messages: 4 })
  })

  it('leaves the last turn open when the source ends in the middle, with calls that may have run', async () => {
    const { fold } = await readOne(
      await file([user('go', { uuid: 'u1' }), answer('m1', [use('c1')], { uuid: 'a1', parent: 'u1' })].join('\n')),
    )
    expect(fold.openTurn).toEqual({ turn: 1, step: 1 })
    expect(fold.openCalls()).toMatchObject([{ callId: 'c1', tier: 'outcome-unknown' }])
  })

  it('cancels the turn that the user interrupted, and gives its open calls a result', async () => {
    const { events } = await readOne(
      await file(
        [
          user('go', { uuid: 'u1' }),
          answer('m1', [use('c1')], { uuid: 'a1', parent: 'u1' }),
          user('[Request interrupted by user for tool use]', { uuid: 'u2', parent: 'a1' }),
          user('again', { uuid: 'u3', parent: 'u2' }),
        ].join('\n'),
      ),
    )
    expect(ofType(events, 'tool/result')).toMatchObject([{ data: { synthetic: { tier: 'outcome-unknown' } } }])
    expect(turnEnds(events)).toEqual([{ kind: 'cancelled', cause: 'user' }])
    expect(ofType(events, 'turn/start')).toHaveLength(2)
  })

  it('reads the result of a call before the prompt that came while it ran', async () => {
    const { events, report } = await readOne(
      await file(
        [
          user('go', { uuid: 'u1' }),
          answer('m1', [use('c1')], { uuid: 'a1', parent: 'u1' }),
          user('hurry', { uuid: 'u2', parent: 'a1' }),
          result('c1', { uuid: 'r1', parent: 'a1' }),
        ].join('\n'),
      ),
    )
    expect(types(events).filter((type) => /message|result/.test(type))).toEqual([
      'user/message',
      'assistant/message',
      'tool/result',
      'user/message',
    ])
    expect(report.repairs).toMatchObject({ reordered: 1, syntheticResults: 0 })
  })
})

describe('branches', () => {
  it('makes a fork of a prompt that was asked again, and goes on with the one that was continued', async () => {
    const logs = await readAll(
      await file(
        [
          user('one', { uuid: 'u1' }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          user('left', { uuid: 'u2', parent: 'a1' }),
          answer('m2', [text('b')], { uuid: 'a2', parent: 'u2' }),
          user('taken', { uuid: 'u3', parent: 'a1' }),
          answer('m3', [text('c')], { uuid: 'a3', parent: 'u3' }),
        ].join('\n'),
      ),
    )
    const [main, branch] = logs
    expect(logs.map((log) => log.header.id)).toEqual(['s1', 's1-branch-u2'])
    expect(main?.fold.messages()).toMatchObject([{ content: 'one' }, { id: 'm1' }, { content: 'taken' }, { id: 'm3' }])
    expect(branch?.fold.messages()).toMatchObject([{ content: 'one' }, { id: 'm1' }, { content: 'left' }, { id: 'm2' }])
    const shared = branch?.header.seedLength ?? 0
    expect(branch?.header).toMatchObject({ parent: 's1', origin: 'fork' })
    expect(branch?.events.slice(0, shared)).toEqual(main?.events.slice(0, shared))
    expect(branch?.events[shared]).toMatchObject({ type: 'session/forked', data: { parent: 's1', at: shared - 1 } })
  })

  it('makes a fork of an answer that was made again', async () => {
    const logs = await readAll(
      await file(
        [
          user('one', { uuid: 'u1' }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          answer('m2', [text('b')], { uuid: 'a2', parent: 'u1' }),
        ].join('\n'),
      ),
    )
    expect(logs.map((log) => log.fold.messages().length)).toEqual([2, 2])
    expect(logs[1]?.header).toMatchObject({ parent: 's1', seedLength: 2 })
  })

  it('does not branch where tools ran in parallel, at several roots, or at parents that are not there', async () => {
    const logs = await readAll(
      await file(
        [
          user('one', { uuid: 'u1' }),
          answer('m1', [use('c1')], { uuid: 'a1', parent: 'u1' }),
          answer('m1', [use('c2')], { uuid: 'a2', parent: 'a1' }),
          result('c1', { uuid: 'r1', parent: 'a1' }),
          result('c2', { uuid: 'r2', parent: 'a2' }),
          answer('m2', [text('b')], { uuid: 'a3', parent: 'r1' }),
          user('root', { uuid: 'u2' }),
          user('lost', { uuid: 'u3', parent: 'nowhere' }),
        ].join('\n'),
      ),
    )
    expect(logs).toHaveLength(1)
    expect(logs[0]?.fold.messages()).toHaveLength(7)
  })

  it('ends on a circle of parents', async () => {
    const logs = await readAll(
      await file(
        [
          user('a', { uuid: 'u1', parent: 'u2' }),
          user('b', { uuid: 'u2', parent: 'u1' }),
          user('c', { uuid: 'u3', parent: 'u3' }),
        ].join('\n'),
      ),
    )
    expect(logs[0]?.fold.messages()).toHaveLength(3)
  })
})

describe('sub-agents', () => {
  it('makes child sessions of sidechains, by agent or by root', async () => {
    const side = (agentId?: string): object => ({ isSidechain: true, ...(agentId && { agentId }) })
    const logs = await readAll(
      await file(
        [
          user('one', { uuid: 'u1' }),
          user('task', { uuid: 'x1', more: side() }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          answer('m2', [text('b')], { uuid: 'x2', parent: 'x1', more: side() }),
          user('other', { uuid: 'y1', more: side('agent7') }),
          user('more', { uuid: 'y2', more: side('agent7') }),
        ].join('\n'),
      ),
    )
    expect(logs.map(({ header, fold }) => [header.id, header.parent, header.origin, fold.messages().length])).toEqual([
      ['s1', undefined, 'import:claude-code', 2],
      ['s1-agent-x1', 's1', 'sub-agent', 2],
      ['s1-agent-agent7', 's1', 'sub-agent', 2],
    ])
    expect(ofType(logs[1]?.events ?? [], 'turn/start')).toMatchObject([{ data: { trigger: { kind: 'agent' } } }])
  })
})

describe('ids', () => {
  it('stay well-formed and different whatever the source calls its agents', async () => {
    const agent = (agentId: string, uuid: string): string =>
      user('task', { uuid, more: { isSidechain: true, agentId } })
    const logs = await readAll(
      await file(
        [user('one', { uuid: 'u1' }), agent('x'.repeat(2000), 'x1'), agent('\ud800', 'x2'), agent('../..', 'x3')].join(
          '\n',
        ),
      ),
    )
    expect(logs.map(({ header }) => header.id)).toEqual(['s1', 's1-sub-agent-1', 's1-sub-agent-2', 's1-agent-../..'])
  })
})

describe('compaction, titles and the rest', () => {
  it('replaces what a compaction summarises', async () => {
    const { events, fold } = await readOne(
      await file(
        [
          user('one', { uuid: 'u1' }),
          answer('m1', [text('a')], { uuid: 'a1', parent: 'u1' }),
          JSON.stringify({
            type: 'system',
            subtype: 'compact_boundary',
            sessionId: 's1',
            uuid: 'b1',
            parentUuid: null,
            logicalParentUuid: 'a1',
            timestamp: '2026-01-01T01:00:00.000Z',
            compactMetadata: { trigger: 'auto' },
          }),
          user('summary', { uuid: 'u2', parent: 'b1', more: { isCompactSummary: true } }),
          answer('m2', [text('b')], { uuid: 'a2', parent: 'u2' }),
        ].join('\n'),
      ),
    )
    expect(fold.messages()).toMatchObject([{ content: 'summary' }, { id: 'm2' }])
    expect(ofType(events, 'compaction/start')).toMatchObject([{ data: { turn: 1, trigger: 'auto' } }])
    expect(ofType(events, 'claude-code/system-compact_boundary')).toHaveLength(1)
  })

  it('takes titles, keeps other records, and marks times that are not there', async () => {
    const summary = JSON.stringify({ type: 'summary', summary: 'A title', leafUuid: 'a1' })
    const { events, fold, report } = await readOne(
      await file(
        [
          user('one', { uuid: 'u1' }),
          summary,
          '{"type":"queue-operation","operation":"dequeue","sessionId":"s1","timestamp":"2026-01-01T00:00:00.000Z"}',
        ].join('\n'),
      ),
    )
    expect(fold.summary().title).toBe('A title')
    expect(ofType(events, 'claude-code/queue-operation')).toMatchObject([
      { data: { operation: 'dequeue' }, ignorable: true },
    ])
    expect(report).toMatchObject({ missingTimes: 1, mapped: 2, kept: 1 })
    expect(events.at(-1)).toMatchObject({ data: { kind: 'inferred-times', ranges: [[2, 2]] } })
  })

  it('takes the newest session id of a resumed transcript', async () => {
    const old = user('old', { uuid: 'u0', more: { sessionId: 's0' } })
    const { header } = await readOne(await file([old, user('new', { uuid: 'u1' })].join('\n')))
    expect(header).toMatchObject({
      id: 's1',
      cwd: '/work',
      messageFormat: 'anthropic',
      labels: { 'claude-code.version': '2.0.0' },
    })
  })

  it('gives results of one line their own messages, and keeps an answerless one as a user message', async () => {
    const both = line(
      'user',
      { uuid: 'r1', parent: 'a1', more: { toolUseResult: { x: 1 } } },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'ok' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'bad', is_error: true },
          text('and this'),
        ],
      },
    )
    const { events, report } = await readOne(
      await file(
        [
          user('go', { uuid: 'u1' }),
          answer('m1', [use('c1'), use('c2')], { uuid: 'a1', parent: 'u1' }),
          both,
          result('c9', { uuid: 'r9' }),
        ].join('\n'),
      ),
    )
    expect(ofType(events, 'tool/result')).toMatchObject([
      { data: { callId: 'c1', imported: { toolUseResult: { x: 1 } } } },
      { data: { callId: 'c2', error: { code: 'tool-error' } } },
    ])
    expect(ofType(events, 'user/message').slice(1)).toMatchObject([
      { data: { message: { content: [text('and this')] } } },
      { data: { source: { kind: 'tool-result', callId: 'c9' } } },
    ])
    expect(report.repairs.orphanResults).toBe(1)
  })
})
