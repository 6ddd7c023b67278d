import type { ConformanceReport } from './conformance-report.ts'

/** From how many clauses on one cause is likelier than several. */
const MANY = 3

/** One line for each message with which many clauses failed: the first of them is the one to look at. */
export function sameFailures({ results }: ConformanceReport): readonly string[] {
  const byMessage = new Map<string, string[]>()
  for (const { id, status, message = '' } of results) {
    if (status !== 'failed') continue
    const ids = byMessage.get(message) ?? []
    byMessage.set(message, ids)
    ids.push(id)
  }
  return [...byMessage.values()].flatMap((ids) => {
    return ids.length < MANY
      ? []
      : [`${ids.length} clauses fail in the same way; look at ${ids[0]} first: ${ids.join(' ')}`]
  })
}
