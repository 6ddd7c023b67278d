/** Backends that are wrong in one way each: how the kit itself is tested, on any backend. */
export { ALL_MUTANTS } from './mutants/all-mutants.ts'
export { renderKillMatrix } from './mutants/kill-matrix.ts'
export { KILL_TABLE, SOMETIMES_KILLED } from './mutants/kill-table.ts'
export { type Mutant, type MutantMedium, mutantHarness } from './mutants/mutant.ts'
