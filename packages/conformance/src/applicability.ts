import type { BackendCapabilities } from '@session-persistence/core'
import { CAPABILITY_LEVELS } from './capability-levels.ts'
import type { CaseNeeds, ConformanceCase } from './conformance-case.ts'

/**
 * Why a clause says nothing about a backend that declares these levels, with the clause that does; undefined when it
 * does. That is no gap in a run: each level of a capability has clauses of its own.
 */
export function notApplicable(
  { needs }: Pick<ConformanceCase, 'needs'>,
  declared: BackendCapabilities,
  cases: readonly ConformanceCase[],
): string | undefined {
  for (const capability of Object.keys(needs.capabilities ?? {}) as (keyof BackendCapabilities)[]) {
    if (allows(needs, capability, declared[capability])) continue
    const others = cases.filter((one) => one.observes === capability && appliesTo(one.needs, declared))
    const instead =
      others.length === 0 ? '' : `; ${others.map(({ id }) => id).join(' and ')} ${others.length === 1 ? 'does' : 'do'}`
    return `says nothing of ${capability} '${declared[capability]}'${instead}`
  }
  return undefined
}

/** Whether a clause says anything about a backend that declares these levels. */
export function appliesTo(needs: CaseNeeds, declared: BackendCapabilities): boolean {
  return (Object.keys(CAPABILITY_LEVELS) as (keyof BackendCapabilities)[]).every((capability) => {
    return allows(needs, capability, declared[capability])
  })
}

function allows(needs: CaseNeeds, capability: keyof BackendCapabilities, level: string): boolean {
  const levels: readonly string[] | undefined = needs.capabilities?.[capability]
  return levels === undefined || levels.includes(level)
}
