// Proves that the text of a message is what a person would read of it, in every provider's shape and in real logs, and
// that no JSON makes a reader throw.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coreMessageFormats } from '../../src/message-format/core-formats.ts'
import { messageText } from '../../src/message-format/message-text.ts'
import { losslessJson, scale } from '../event/arbitraries.ts'
import { corpusAbsent, corpusRecords, messagesIn, onCorpus } from '../event/corpus.ts'

describe('text', () => {
  it.each<[string, unknown, string]>([
    ['a bare string', 'hi', 'hi'],
    ['role and content', { role: 'user', content: 'hi' }, 'hi'],
    ['an empty message', { role: 'assistant', content: '' }, ''],
    ['null content beside calls (openai)', { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] }, ''],
    ['a refusal (openai)', { role: 'assistant', content: null, refusal: 'I will not.' }, 'I will not.'],
    [
      'content parts with an image (openai)',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'x' } },
        ],
      },
      'see',
    ],
    ['a tool message (openai)', { role: 'tool', tool_call_id: 'c', content: 'done' }, 'done'],
    [
      'an item of the Responses API',
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'refusal', refusal: 'b' },
        ],
      },
      'a\nb',
    ],
    [
      'a call output of the Responses API',
      { type: 'function_call_output', call_id: 'c', output: '{"ok":1}' },
      '{"ok":1}',
    ],
    [
      'a call output in parts',
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'a' }] },
      'a',
    ],
    ['a call of the Responses API', { type: 'function_call', call_id: 'c', arguments: '{}' }, ''],
    [
      'text, thinking and a call (anthropic)',
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hidden', signature: 's' },
          { type: 'text', text: 'one' },
          { type: 'tool_use', id: 't', name: 'n', input: { text: 'not this' } },
          { type: 'text', text: 'two' },
        ],
      },
      'one\ntwo',
    ],
    [
      'tool results, as text and nested (anthropic)',
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'first' },
          { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'second' }, { type: 'image' }] },
          { type: 'tool_result', tool_use_id: 'c' },
        ],
      },
      'first\nsecond',
    ],
    [
      'reasoning, text and a call (ai-sdk)',
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hidden' },
          { type: 'text', text: 'seen' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'n', input: {} },
        ],
      },
      'seen',
    ],
    [
      'tool outputs of every kind (ai-sdk)',
      {
        role: 'tool',
        content: [
          { type: 'tool-result', output: { type: 'text', value: 'a' } },
          { type: 'tool-result', output: { type: 'error-text', value: 'b' } },
          { type: 'tool-result', output: { type: 'json', value: { n: 1 } } },
          { type: 'tool-result', output: { type: 'error-json', value: ['c'] } },
          { type: 'tool-result', output: { type: 'content', value: [{ type: 'text', text: 'd' }, { type: 'media' }] } },
          { type: 'tool-result', result: { older: true } },
          { type: 'tool-result', result: 'e' },
          { type: 'tool-result' },
        ],
      },
      'a\nb\n{"n":1}\n["c"]\nd\n{"older":true}\ne',
    ],
    [
      'a UI message (ai-sdk)',
      { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }, { type: 'step-start' }] },
      'hi',
    ],
    ['parts without a type', { role: 'model', parts: [{ text: 'hi' }, { functionCall: { name: 'n' } }] }, 'hi'],
    ['text under an inherited key', JSON.parse('{"__proto__":{"content":"x"}}'), ''],
  ])('of %s', (_, message, text) => {
    for (const format of coreMessageFormats) expect(format.text(message)).toBe(text)
  })

  it('never throws', () => {
    const parts = fc.record({
      type: fc.constantFrom('text', 'tool_result', 'tool-result', 'message', 'function_call_output', 'other', 1, null),
      content: losslessJson(),
      output: fc.oneof(
        losslessJson(),
        fc.record({ type: fc.constantFrom('json', 'content', 'text'), value: losslessJson() }),
      ),
      text: losslessJson(),
    })
    const messages = fc.oneof(losslessJson(), fc.record({ role: losslessJson(), content: fc.array(parts) }), parts)
    fc.assert(
      fc.property(messages, (message) => {
        expect(typeof messageText(message)).toBe('string')
      }),
      { numRuns: 1000 * scale },
    )
  })

  it('ends, however deep parts are nested', () => {
    const deep = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(messageText(deep(100_000))).toBe('')
    expect(messageText({ type: 'tool-result', output: { type: 'json', value: deep(100_000) } })).toBe('')
  })
})

type Part = { readonly [key: string]: unknown }
const partsOf = (content: unknown): readonly Part[] => (Array.isArray(content) ? (content as Part[]) : [])

describe.skipIf(corpusAbsent)('text of real messages', () => {
  it(onCorpus('Claude Code: all text and tool output, none of the reasoning and calls'), () => {
    const seen = { messages: 0, text: 0, results: 0, nested: 0, thinking: 0 }
    for (const record of corpusRecords('claude-code')) {
      for (const message of messagesIn((record as { message?: unknown } | undefined)?.message)) {
        const text = messageText(message)
        seen.messages++
        if (typeof message.content === 'string') expect(text).toBe(message.content)
        let rest = text
        const takes = (expected: unknown): void => {
          expect(rest.startsWith(String(expected))).toBe(true)
          rest = rest.slice(String(expected).length).replace(/^\n/, '')
        }
        for (const part of partsOf(message.content)) {
          if (part.type === 'thinking') seen.thinking++
          if (part.type === 'text') takes(part.text)
          if (part.type === 'text') seen.text++
          if (part.type !== 'tool_result') continue
          seen.results++
          if (typeof part.content === 'string') takes(part.content)
          for (const inner of partsOf(part.content)) {
            seen.nested++
            if (inner.type === 'text') takes(inner.text)
          }
        }
        if (Array.isArray(message.content)) expect(rest).toBe('')
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10)
  })

  it.each(['dsh/history', 'pi', 'other'])(onCorpus('%s: every text part is in the text'), (folder) => {
    let texts = 0
    for (const record of corpusRecords(folder)) {
      for (const message of messagesIn(record)) {
        const text = messageText(message)
        if (typeof message.content === 'string') expect(text).toContain(message.content)
        for (const part of partsOf(message.content)) {
          if (!['text', 'input_text', 'output_text'].includes(String(part.type))) continue
          if (typeof part.text !== 'string') continue
          expect(text).toContain(part.text)
          texts++
        }
      }
    }
    expect(texts).toBeGreaterThan(50)
  })
})
