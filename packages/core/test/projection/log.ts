import type { AnySessionEvent, AppendOptions } from '../../src/index.ts'

/** Builds a log from `[type, data, options?]` rows: seqs from 0, one millisecond apart. */
export function log(
  ...rows: readonly (readonly [type: string, data: unknown, options?: AppendOptions])[]
): AnySessionEvent[] {
  return rows.map(([type, data, options], seq) => ({ seq, time: 1_700_000_000_000 + seq, type, data, ...options }))
}
