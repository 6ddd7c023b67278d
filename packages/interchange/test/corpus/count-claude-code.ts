import { readFileSync } from 'node:fs'
import type { SourceCounts } from './count-dsh.ts'

// biome-ignore lint/suspicious/noExplicitAny: raw JSON of another program; a wrong guess must fail the test, not the compiler.
type Raw = any

/** Every record of a transcript, glued ones taken apart by hand. */
function records(path: string): Raw[] {
  const all: Raw[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    for (const part of line.replaceAll('}{"type":"summary"', '}\n{"type":"summary"').split('\n')) {
      if (part.startsWith('{')) all.push(JSON.parse(part))
    }
  }
  return all
}

/**
 * Counts of a whole transcript file, sub-agents and branches included: answers by message id, calls and results by the
 * call's id, prompts by line. The last line of an answer counts its tokens.
 */
export function countClaudeCode(path: string): SourceCounts {
  const all = records(path)
  const answers = new Map<string, Raw>()
  const calls = new Set<string>()
  const results = new Set<string>()
  let prompts = 0
  for (const { type, message } of all) {
    if (type === 'assistant') {
      answers.set(message.id, message)
      for (const block of message.content) if (block.type === 'tool_use') calls.add(block.id)
    } else if (type === 'user') {
      const given = Array.isArray(message.content)
        ? message.content.filter((block: Raw) => block.type === 'tool_result')
        : []
      for (const block of given) results.add(block.tool_use_id)
      if (given.length === 0) prompts++
    }
  }
  const titles = all.filter((record) => record.type === 'summary')
  const sum = (key: string): number =>
    [...answers.values()].reduce((total, message) => total + (message.usage?.[key] ?? 0), 0)
  return {
    prompts,
    answers: answers.size,
    calls: calls.size,
    results: results.size,
    titles: titles.length,
    lastTitle: titles.at(-1)?.summary,
    inputTokens: sum('input_tokens'),
    outputTokens: sum('output_tokens'),
    cacheReadTokens: sum('cache_read_input_tokens'),
    cacheWriteTokens: sum('cache_creation_input_tokens'),
    reasoningTokens: 0,
  }
}
