import {
  type ConformanceCase,
  EXTENSION_FAMILIES,
  FAMILIES,
  type Family,
  TIERS,
  type Tier,
} from './conformance-case.ts'
import type { TierExtension } from './tier-extension.ts'

export interface RunOptions {
  /** Default all. */
  readonly families?: readonly Family[]
  /** Single clauses; default all of the families. */
  readonly ids?: readonly string[]
  /** Default all that the harness unlocks. */
  readonly tiers?: readonly Tier[]
  /** Default 1. The same seed gives the same verdicts. */
  readonly seed?: number
  /** `quick` tries a sample of the damaged media, the kills and the generated workloads; default `full`. */
  readonly effort?: 'quick' | 'full'
  /**
   * Milliseconds in which something must happen in a case, and a tenth of what it may take in all; default what the case
   * says, 30,000 unless it says more.
   */
  readonly caseDeadlineMs?: number
  /** Milliseconds that any one call of the harness itself may take; default 30,000. */
  readonly harnessDeadlineMs?: number
  /** Tiers of other packages. */
  readonly extensions?: readonly TierExtension[]
  /** How the command that repeats a failure names the extensions, each as `--with` takes it. */
  readonly extensionNames?: readonly string[]
  /**
   * Blames a rejection that nobody handled on the case that ran. Off by default, since test runners do it themselves,
   * and since it changes what the whole process does with one.
   */
  readonly watchRejections?: boolean
  /** How the command that repeats a failure names the harness; default the path of its `module`. */
  readonly harnessPath?: string
}

/** The cases that the options choose, in the order of the contract. */
export function chosenCases(cases: readonly ConformanceCase[], options: RunOptions): readonly ConformanceCase[] {
  return cases.filter(({ id, family, needs }) => {
    return (
      (options.families?.includes(family) ?? true) &&
      (options.ids?.includes(id) ?? true) &&
      (options.tiers?.includes(needs.tier) ?? true)
    )
  })
}

/** What is wrong with the options, one sentence. */
export function wrongOptions(cases: readonly ConformanceCase[], options: RunOptions): string | undefined {
  const ids = new Set(cases.map(({ id }) => id))
  const unknownId = options.ids?.find((id) => !ids.has(id))
  if (unknownId !== undefined) return `There is no clause ${unknownId}; docs/contract.md lists them.`
  const families: readonly string[] = [...FAMILIES, ...EXTENSION_FAMILIES]
  const unknownFamily = options.families?.find((family) => !families.includes(family))
  if (unknownFamily !== undefined) return `There is no family ${unknownFamily}; there are ${families.join(', ')}.`
  const unknownTier = options.tiers?.find((tier) => !TIERS.includes(tier))
  if (unknownTier !== undefined) return `There is no tier ${unknownTier}; there are ${TIERS.join(', ')}.`
  return undefined
}
