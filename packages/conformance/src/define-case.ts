import type { BackendCapabilities } from '@session-persistence/core'
import type { CaseContext, CaseNeeds, ConformanceCase, Family } from './conformance-case.ts'

/** The clause in the order in which it is read. */
interface Clause {
  readonly title: string
  readonly why: string
  readonly level?: 'MUST' | 'SHOULD'
  readonly since?: string
  readonly needs?: Partial<CaseNeeds>
  readonly observes?: keyof BackendCapabilities
  readonly run: (context: CaseContext) => Promise<void>
}

/** The cases of one family; the keys are the numbers, so that none can be given twice. */
export function casesOf(family: Family, clauses: { readonly [number: number]: Clause }): readonly ConformanceCase[] {
  return Object.entries(clauses).map(([number, clause]) => ({
    id: `${family}-${number}`,
    level: clause.level ?? 'MUST',
    family,
    title: clause.title,
    why: clause.why,
    since: clause.since ?? '0.1',
    needs: { tier: 'logic', ...clause.needs },
    ...(clause.observes === undefined ? {} : { observes: clause.observes }),
    run: clause.run,
  }))
}
