// Proves which text counts as the unfinished answer: that of the newest request, in block order, until it is answered.
import { describe, expect, it } from 'vitest'
import { LOST_EVENT_TYPE } from '../../src/event/lost-event.ts'
import { PartialAnswer } from '../../src/projection/partial-answer.ts'
import { log } from './log.ts'

type Row = readonly [type: string, data: unknown, options?: object]

const place = { turn: 1, step: 1 }
const STEP: Row = ['step/start', place]
const sent = (attempt: number): Row => ['request/sent', { ...place, attempt }]
const chunk = (kind: string, index: number, text: string): Row => ['assistant/chunk', { ...place, kind, index, text }]
const ANSWER: Row = ['assistant/message', { ...place, message: 'm', toolCalls: [] }]

function blocks(...rows: readonly Row[]): unknown {
  const partial = new PartialAnswer()
  for (const event of log(...rows)) partial.accept(event)
  return partial.blocks().map(({ kind, text }) => [kind, text])
}

describe('PartialAnswer', () => {
  it('joins the deltas of each block, in block order', () => {
    const rows = [chunk('text', 2, 'B'), chunk('reasoning', 0, 'h'), chunk('text', 1, 'A'), chunk('reasoning', 0, 'm')]
    expect(blocks(STEP, sent(1), ...rows, chunk('text', 2, 'b'))).toEqual([
      ['reasoning', 'hm'],
      ['text', 'A'],
      ['text', 'Bb'],
    ])
  })

  it('keeps text and reasoning apart where a provider numbers them apart', () => {
    expect(blocks(STEP, chunk('reasoning', 0, 'hm'), chunk('text', 0, 'Hi'), chunk('reasoning', 0, '!'))).toEqual([
      ['reasoning', 'hm!'],
      ['text', 'Hi'],
    ])
  })

  it('ends where an event is lost: what comes behind is not what was said next', () => {
    const lost: Row = [LOST_EVENT_TYPE, {}, { ignorable: true }]
    const before = [STEP, sent(1), chunk('text', 0, 'You should '), lost, chunk('text', 0, 'run rm -rf.')]
    expect(blocks(...before)).toEqual([['text', 'You should ']])
    // The next request is answered anew.
    expect(blocks(...before, sent(2), chunk('text', 0, 'No.'))).toEqual([['text', 'No.']])
  })

  it('leaves out blocks without text, half-made calls and everything else', () => {
    const call: Row = ['assistant/chunk', { ...place, kind: 'tool-arguments', index: 1, callId: 'a', text: '{"a":' }]
    const other: Row = ['assistant/chunk', { ...place, kind: 'other', index: 2, value: 'x' }]
    expect(blocks(STEP, chunk('text', 0, ''), call, other)).toEqual([])
  })

  it('starts anew with each request and step', () => {
    expect(blocks(STEP, sent(1), chunk('text', 0, 'old'), sent(2), chunk('text', 0, 'new'))).toEqual([['text', 'new']])
    const next: Row = ['step/start', { turn: 1, step: 2 }]
    expect(blocks(STEP, chunk('text', 0, 'old'), ['step/end', place], next)).toEqual([])
  })

  it('ends with the answer, whatever comes after it', () => {
    expect(blocks(STEP, sent(1), chunk('text', 0, 'a'), ANSWER, chunk('text', 0, 'late'))).toEqual([])
  })

  it('goes on past a replacement, which answers nothing', () => {
    const replacement: Row = [ANSWER[0], ANSWER[1], { surface: { replace: [0, 0] } }]
    expect(blocks(STEP, sent(1), chunk('text', 0, 'a'), replacement, chunk('text', 0, 'b'))).toEqual([['text', 'ab']])
  })

  it('gives the same blocks when asked twice, and more when more came', () => {
    const partial = new PartialAnswer()
    const [step, first, second] = log(STEP, chunk('text', 0, 'a'), chunk('text', 0, 'b'))
    for (const event of [step, first]) if (event !== undefined) partial.accept(event)
    expect(partial.blocks()).toEqual(partial.blocks())
    if (second !== undefined) partial.accept(second)
    expect(partial.blocks()).toEqual([{ kind: 'text', text: 'ab' }])
  })
})
