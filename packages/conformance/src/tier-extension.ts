import type { ConformanceCase, ExtensionTier } from './conformance-case.ts'
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
