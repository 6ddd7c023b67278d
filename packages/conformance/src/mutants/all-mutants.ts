import type { Tier } from '../conformance-case.ts'
import { APPEND_MUTANTS } from './append-mutants.ts'
import { CRASH_INSIDE_MUTANTS } from './crash-inside-mutants.ts'
import { DAMAGE_MUTANTS } from './damage-mutants.ts'
import { DATA_MUTANTS } from './data-mutants.ts'
import { DECLARATION_MUTANTS } from './declaration-mutants.ts'
import { DURABLE_MUTANTS } from './durable-mutants.ts'
import { FORK_MUTANTS } from './fork-mutants.ts'
import { GRAMMAR_MUTANTS } from './grammar-mutants.ts'
import { ID_MUTANTS } from './id-mutants.ts'
import { LIFE_MUTANTS } from './life-mutants.ts'
import { LIST_MUTANTS } from './list-mutants.ts'
import { MEDIUM_MUTANTS } from './medium-mutants.ts'
import type { Mutant } from './mutant.ts'
import { PROCESS_MUTANTS } from './process-mutants.ts'
import { READ_MUTANTS } from './read-mutants.ts'
import { RECOVERY_MUTANTS } from './recovery-mutants.ts'
import { TURN_MUTANTS } from './turn-mutants.ts'
import { UNFLUSHED_MUTANTS } from './unflushed-mutants.ts'
import { WHOLE_LOG_MUTANTS } from './whole-log-mutants.ts'
import { WRITER_MUTANTS } from './writer-mutants.ts'

/** Wrong above the bytes: tried on the in-memory backend, against the logic tier. */
export const LOGIC_MUTANTS: readonly Mutant[] = [
  ...LIFE_MUTANTS,
  ...WHOLE_LOG_MUTANTS,
  ...UNFLUSHED_MUTANTS,
  ...APPEND_MUTANTS,
  ...GRAMMAR_MUTANTS,
  ...DURABLE_MUTANTS,
  ...READ_MUTANTS,
  ...LIST_MUTANTS,
  ...ID_MUTANTS,
  ...DATA_MUTANTS,
  ...TURN_MUTANTS,
  ...RECOVERY_MUTANTS,
  ...FORK_MUTANTS,
  ...WRITER_MUTANTS,
]

/** Every mutant with the tier whose cases it is tried against: logic on any backend, the others on a file backend. */
export const ALL_MUTANTS: readonly (readonly [Tier, Mutant])[] = [
  ...LOGIC_MUTANTS.map((mutant) => ['logic', mutant] as const),
  ...PROCESS_MUTANTS.map((mutant) => ['process', mutant] as const),
  ...CRASH_INSIDE_MUTANTS.map((mutant) => ['process', mutant] as const),
  ...MEDIUM_MUTANTS.map((mutant) => ['medium', mutant] as const),
  ...DAMAGE_MUTANTS.map((mutant) => ['medium', mutant] as const),
  ...DECLARATION_MUTANTS,
]
