/**
 * A model that needs no network and always answers the same: it reads the request as any model does, and looks up what
 * to say. Its answers are made from the tool results in the request, so a lost or invented message would show.
 */
import type { ChunkDelta, ModelContext, ToolCall } from 'session-persistence'
import type { Answer, Model } from './agent-loop.ts'
import { assistantMessage, isAssistant, promptText, type ReadResult, toolResults } from './anthropic-messages.ts'

export const PROMPTS = {
  survey: 'How large is this project, and where does it close a turn?',
  carryOn: 'Carry on where you were interrupted.',
  recall: 'What did I ask first, and how often did you answer?',
  branch: 'In one sentence: what is a session?',
} as const

/** What the model knows when it answers: results since the prompt, newest last, and the whole history. */
interface Situation {
  readonly results: readonly ReadResult[]
  readonly prompts: readonly string[]
  readonly answers: number
}

interface Line {
  readonly text: string
  readonly calls?: readonly { readonly name: string; readonly arguments: { readonly [name: string]: string } }[]
}

/** For each prompt, what to say in step 1, 2, ... The last line of each asks for nothing, so that the turn ends. */
const script: { readonly [prompt: string]: readonly ((situation: Situation) => Line)[] } = {
  [PROMPTS.survey]: [
    () => ({
      text: 'I will look at the folders first, and count the lines.',
      calls: [
        { name: 'list_files', arguments: {} },
        { name: 'count_lines', arguments: {} },
      ],
    }),
    ({ results }) => ({
      text: `There are ${resultLike(results, /lines$/)}. Now I look for the place, and note the size in a report.`,
      calls: [
        { name: 'search', arguments: { text: 'closeTurn' } },
        { name: 'read_file', arguments: { file: 'package.json' } },
        { name: 'write_report', arguments: { text: resultLike(results, /lines$/) } },
      ],
    }),
    ({ results }) => ({ text: `It has ${resultLike(results, /lines$/)}, and the report is written.` }),
  ],
  [PROMPTS.carryOn]: [
    () => ({
      text: 'Reading is safe to repeat. Whether the report was written is not known, so I look before I write.',
      calls: [
        { name: 'count_lines', arguments: {} },
        { name: 'read_file', arguments: { file: 'package.json' } },
        { name: 'read_report', arguments: {} },
      ],
    }),
    ({ results }) => ({
      text: `The report was never written (${resultLike(results, /report/)}). I write it now, once.`,
      calls: [{ name: 'write_report', arguments: { text: resultLike(results, /lines$/) } }],
    }),
    ({ results }) => ({
      text: `Done: ${resultLike(results, /lines$/)}, and the report is ${resultLike(results, /^written/)}.`,
    }),
  ],
  [PROMPTS.recall]: [
    ({ prompts, answers }) => ({
      text: `You asked first: “${prompts[0] ?? ''}” I have answered ${answers} times before.`,
    }),
  ],
  [PROMPTS.branch]: [
    () => ({ text: 'A session is an append-only log of events; everything else is a projection of it.' }),
  ],
}

function resultLike(results: readonly ReadResult[], pattern: RegExp): string {
  return (
    results.map(({ output }) => output.trim()).findLast((output) => pattern.test(output)) ?? 'something I do not know'
  )
}

function answerTo(messages: readonly unknown[]): Line & { readonly callIdPrefix: string } {
  const prompts = messages.flatMap((message) => promptText(message) ?? [])
  const newest = messages.findLastIndex((message) => promptText(message) !== undefined)
  const since = messages.slice(newest + 1)
  const step = since.filter(isAssistant).length
  const answers = messages.slice(0, newest).filter(isAssistant).length
  const lines = script[prompts.at(-1) ?? ''] ?? [() => ({ text: 'I have no answer to that.' })]
  const line = lines[Math.min(step, lines.length - 1)]
  const situation = { results: since.flatMap(toolResults), prompts, answers }
  return { ...(line?.(situation) ?? { text: '' }), callIdPrefix: `call_${prompts.length}_${step + 1}` }
}

export const scriptedModel: Model = {
  provider: 'tour',
  name: 'scripted-1',
  async *stream(request: ModelContext): AsyncGenerator<ChunkDelta, Answer> {
    const { text, calls = [], callIdPrefix } = answerTo(request.messages)
    const toolCalls = calls.map((call, index): ToolCall => ({ callId: `${callIdPrefix}_${index + 1}`, ...call }))
    for (const word of text.split(/(?<= )/)) yield { kind: 'text', index: 0, text: word }
    for (const [index, call] of toolCalls.entries()) {
      const json = JSON.stringify(call.arguments)
      yield { kind: 'tool-arguments', index: index + 1, callId: call.callId, name: call.name, text: json }
    }
    const usage = { inputTokens: JSON.stringify(request).length >> 2, outputTokens: text.length >> 2 }
    return { message: assistantMessage(text, toolCalls), text, toolCalls, usage }
  },
}
