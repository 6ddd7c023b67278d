import { type AnySessionEvent, isEventOf, LogFold, type LogSource } from '@session-persistence/core'
import type { SourceCounts } from './count-dsh.ts'

/** The same counts of the imported logs of one file, with what a branch shares with its parent there counted once. */
export async function countImported(
  logs: AsyncIterable<LogSource>,
): Promise<SourceCounts & { readonly orphans: number }> {
  const prompts: AnySessionEvent[] = []
  const results = new Set<string>()
  const calls = new Set<string>()
  let answers = 0
  let titles = 0
  let orphans = 0
  let lastTitle: string | undefined
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  let log = 0
  const seen = new Set<string>()
  for await (const { header, events } of logs) {
    log++
    const shared = header.parent !== undefined && seen.has(header.parent) ? (header.seedLength ?? 0) : 0
    seen.add(header.id)
    for await (const page of events) {
      for (const event of page) {
        if (event.seq < shared) continue
        if (isEventOf(event, 'user/message')) {
          if (event.data.source?.kind === 'tool-result') orphans++
          else prompts.push(event)
        }
        if (isEventOf(event, 'session/title')) {
          titles++
          lastTitle = event.data.title
        }
        if (isEventOf(event, 'tool/result') && event.data.synthetic === undefined) {
          results.add(`${log} ${event.data.turn} ${event.data.step} ${event.data.callId}`)
        }
        if (isEventOf(event, 'assistant/message')) {
          answers++
          for (const { callId } of event.data.toolCalls)
            calls.add(`${log} ${event.data.turn} ${event.data.step} ${callId}`)
          for (const key of Object.keys(usage) as (keyof typeof usage)[]) usage[key] += event.data.usage?.[key] ?? 0
        }
      }
    }
  }
  return {
    prompts: prompts.length,
    answers,
    calls: calls.size,
    results: results.size,
    titles,
    lastTitle,
    orphans,
    ...usage,
  }
}

/** What the projections of one log say. */
export async function project({ events }: LogSource): Promise<LogFold> {
  const fold = new LogFold()
  for await (const page of events) for (const event of page) fold.accept(event)
  return fold
}
