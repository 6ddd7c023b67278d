import { BYTES_KILLS } from './bytes-kills.ts'
import { SESSION_KILLS } from './session-kills.ts'
import { STORE_KILLS } from './store-kills.ts'

/** Clauses by the mutant that fails them. */
export interface KillTable {
  readonly [mutant: string]: readonly string[]
}

/** For each mutant exactly the clauses that it must fail. Checked by running it; written down so that a change is seen. */
export const KILL_TABLE: KillTable = { ...SESSION_KILLS, ...STORE_KILLS, ...BYTES_KILLS }

/**
 * Clauses that a mutant fails only when processes happen to meet, or a background write to come late. Neither counted
 * as kills nor held against the table.
 */
export const SOMETIMES_KILLED: KillTable = {
  'acknowledges-before-writing': ['CONC-13', 'CRASH-14', 'MODEL-4'],
  'left-over-locks-are-sessions': ['CRASH-10', 'CRASH-12', 'MODEL-4'],
  // Whoever dies inside its close may have released the lock already.
  'stale-lock-honoured': ['CRASH-14'],
  'lock-of-others-removed': ['CONC-9', 'CONC-11', 'CONC-12'],
  'everybody-repairs': ['CONC-11', 'CONC-12'],
}
