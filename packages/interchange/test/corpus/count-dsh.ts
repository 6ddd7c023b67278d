import { readFileSync } from 'node:fs'

/**
 * Counts of a DeepSeek Harness log, taken from its text line by line: nothing here is shared with the reader, not even
 * the way of thinking.
 */
export interface SourceCounts {
  prompts: number
  answers: number
  calls: number
  results: number
  titles: number
  lastTitle: string | undefined
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  reasoningTokens: number
}

// biome-ignore lint/suspicious/noExplicitAny: raw JSON of another program; a wrong guess must fail the test, not the compiler.
type Raw = any

export function countDsh(path: string): SourceCounts {
  const c: SourceCounts = {
    prompts: 0,
    answers: 0,
    calls: 0,
    results: 0,
    titles: 0,
    lastTitle: undefined,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue
    const { type, data }: Raw = JSON.parse(line)
    if (['user/message', 'steering/message', 'context/message'].includes(type)) c.prompts++
    else if (type === 'tool/result') c.results++
    else if (type === 'session/title') {
      c.titles++
      c.lastTitle = data.title
    } else if (type === 'assistant/message') {
      c.answers++
      const blocks: Raw[] = (data.message ?? data).content
      c.calls += blocks.filter((block) => block.type === 'tool-call').length
      for (const key of [
        'inputTokens',
        'outputTokens',
        'cacheReadTokens',
        'cacheWriteTokens',
        'reasoningTokens',
      ] as const) {
        c[key] += data.usage?.[key] ?? 0
      }
    }
  }
  return c
}
