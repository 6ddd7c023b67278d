import { type ConformanceCase, EXTENSION_FAMILIES, type ExtensionTier } from './conformance-case.ts'
import type { Harness } from './harness.ts'

/**
 * One more tier, from another package: calls that fail (`io`), writes that a power cut loses (`power`). Its cases run
 * after the built-in ones, on media of the same harness, and stand in the same report. Their families are IO and POWER.
 */
export interface TierExtension {
  readonly tier: ExtensionTier
  readonly cases: readonly ConformanceCase[]
  /**
   * Why the tier cannot run here, for example because a tool or a privilege is missing; undefined when it can. The
   * reason is printed and the cases are counted as skipped, never as passed.
   */
  readonly unavailable?: (harness: Harness) => Promise<string | undefined> | string | undefined
}

/** What a module given to the command with `--with` exports: `export const conformanceTiers: readonly TierExtension[]`. */
export interface TierExtensionModule {
  readonly conformanceTiers: readonly TierExtension[]
}

const TIERS_OF_EXTENSIONS: readonly unknown[] = ['io', 'power']

/** What is wrong with the form of extensions, one sentence: they come from other packages, perhaps of another version. */
export function wrongExtensions(extensions: readonly TierExtension[]): string | undefined {
  const ids = new Set<string>()
  const tiers = new Set<string>()
  for (const { tier, cases } of extensions) {
    if (!TIERS_OF_EXTENSIONS.includes(tier)) return `An extension brings tier ${String(tier)}: it must be io or power.`
    if (tiers.has(tier)) return `Two extensions bring tier ${tier}: give one.`
    tiers.add(tier)
    if (!Array.isArray(cases)) return `The extension for tier ${tier} has no list \`cases\`.`
    for (const { id, family, needs, run } of cases as readonly Partial<ConformanceCase>[]) {
      const isNumbered = typeof id === 'string' && new RegExp(`^${family}-[1-9]\\d*$`).test(id)
      if (!isNumbered || !(EXTENSION_FAMILIES as readonly unknown[]).includes(family)) {
        return `The extension for tier ${tier} has a case ${String(id)}: ids are IO-1, IO-2, ... or POWER-1, POWER-2, ...`
      }
      if (ids.has(id)) return `Two cases of extensions have the id ${id}.`
      ids.add(id)
      if (needs?.tier === tier && typeof run === 'function') continue
      return `Case ${id} of the extension for tier ${tier} must need tier ${tier} and have a function \`run\`.`
    }
  }
  return undefined
}
