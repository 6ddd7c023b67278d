import type { BackendDescription } from '@session-persistence/core'
import type { CaseResult, ConformanceReport } from '../report/conformance-report.ts'

/** What the process that runs a harness tells the one that watches it. */
export type RunMessage =
  /** Sent all the time: the event loop goes round. */
  | { readonly kind: 'alive' }
  /** The harness module is being loaded, a case begins: what is blamed when nothing is heard any more. */
  | { readonly kind: 'now'; readonly doing: string }
  | { readonly kind: 'result'; readonly result: CaseResult; readonly done: number; readonly of: number }
  /** Nothing could be run, or something was thrown outside of every case. */
  | { readonly kind: 'harness-error'; readonly sentence: string; readonly backend?: BackendDescription }
  | { readonly kind: 'report'; readonly report: ConformanceReport }
