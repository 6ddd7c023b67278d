import type { ConformanceReport } from './conformance-report.ts'

/** Clauses that did not run for one reason. */
export interface Reason {
  readonly reason: string
  readonly ids: readonly string[]
}

/** By reason, in the order in which they first occur: a whole tier is not listed clause by clause. */
export function reasons({ results }: ConformanceReport, wanted: 'skipped' | 'not-applicable'): readonly Reason[] {
  const byReason = new Map<string, string[]>()
  for (const { id, status, message = '' } of results) {
    if (status !== wanted) continue
    const ids = byReason.get(message) ?? []
    byReason.set(message, ids)
    ids.push(id)
  }
  return [...byReason].map(([reason, ids]) => ({ reason, ids }))
}
