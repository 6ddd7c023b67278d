// Proves that each format makes messages of its provider's shape, and keeps of an unfinished answer what can be kept.
import { describe, expect, it } from 'vitest'
import { losslessCopy } from '../../src/event/lossless-json.ts'
import { aiSdk } from '../../src/message-format/ai-sdk.ts'
import { anthropic } from '../../src/message-format/anthropic.ts'
import { coreMessageFormats } from '../../src/message-format/core-formats.ts'
import type { CallOutcome, MessageFormat, PartialBlock } from '../../src/message-format/message-format.ts'
import { openai } from '../../src/message-format/openai.ts'
import { plain } from '../../src/message-format/plain.ts'

const call = { callId: 'call_1', name: 'bash', arguments: { command: 'ls' } }
const outcome: CallOutcome = { kind: 'interrupted', tier: 'outcome-unknown', text: 'The process died. Verify first.' }

describe('coreMessageFormats', () => {
  it('are the four of the documentation, by name', () => {
    expect(coreMessageFormats.map(({ name }) => name)).toEqual(['plain', 'anthropic', 'openai', 'ai-sdk'])
    for (const format of coreMessageFormats) expect(Object.isFrozen(format)).toBe(true)
  })
})

describe('toolResult', () => {
  it.each<[string, MessageFormat, unknown]>([
    ['plain', plain, { role: 'tool', callId: 'call_1', name: 'bash', content: outcome.text, isError: true }],
    [
      'anthropic',
      anthropic,
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1', content: outcome.text, is_error: true }],
      },
    ],
    ['openai', openai, { role: 'tool', tool_call_id: 'call_1', content: outcome.text }],
    [
      'ai-sdk',
      aiSdk,
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'call_1',
            toolName: 'bash',
            output: { type: 'error-text', value: outcome.text },
          },
        ],
      },
    ],
  ])('%s', (_, format, message) => {
    expect(format.toolResult(call, outcome)).toEqual(message)
  })

  it.each(coreMessageFormats)('$name reads its own back, and makes lossless JSON', (format) => {
    const message = format.toolResult(call, outcome)
    expect(format.text(message)).toBe(outcome.text)
    expect(losslessCopy(message).value).toEqual(message)
  })
})

describe('partialAssistant', () => {
  const blocks: readonly PartialBlock[] = [
    { kind: 'reasoning', text: 'Hm. ' },
    { kind: 'text', text: 'Let me' },
    { kind: 'text', text: ' \n' },
    { kind: 'text', text: ' look at' },
  ]

  it.each<[string, MessageFormat, unknown]>([
    ['plain', plain, { role: 'assistant', content: 'Let me look at' }],
    [
      'anthropic',
      anthropic,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me' },
          { type: 'text', text: ' look at' },
        ],
      },
    ],
    ['openai', openai, { role: 'assistant', content: 'Let me look at' }],
    [
      'ai-sdk',
      aiSdk,
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm. ' },
          { type: 'text', text: 'Let me' },
          { type: 'text', text: ' look at' },
        ],
      },
    ],
  ])('%s', (_, format, message) => {
    expect(format.partialAssistant(blocks)).toEqual(message)
  })

  it.each(coreMessageFormats)('$name keeps nothing where there is no text', (format) => {
    expect(format.partialAssistant([])).toBeUndefined()
    expect(format.partialAssistant([{ kind: 'reasoning', text: 'Hm.' }])).toBeUndefined()
    expect(format.partialAssistant([{ kind: 'text', text: '' }])).toBeUndefined()
    expect(format.partialAssistant([{ kind: 'text', text: ' \n\t' }])).toBeUndefined()
  })

  it.each(coreMessageFormats)('$name reads its own back without the reasoning', (format) => {
    const text = format.text(format.partialAssistant(blocks))
    expect(text).toContain('Let me')
    expect(text).toContain('look at')
    expect(text).not.toContain('Hm')
  })
})
