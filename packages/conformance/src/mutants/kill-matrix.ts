import type { ConformanceCase } from '../conformance-case.ts'
import { ALL_MUTANTS } from './all-mutants.ts'
import { KILL_TABLE } from './kill-table.ts'

/** The text of `docs/conformance-kill-matrix.md`. */
export function renderKillMatrix(cases: readonly ConformanceCase[]): string {
  const must = cases.filter(({ level }) => level === 'MUST')
  const lines = [
    '# The kill matrix of the conformance kit',
    '',
    'How the kit shows that its cases can fail. Each mutant is a sound backend made wrong in one way; the in-memory one',
    'for the logic tier, plain JSONL for the process and medium tiers. A test runs every mutant and compares what it fails',
    'with this table: neither more nor less. (What a mutant fails only when processes happen to meet is left out.)',
    '',
    `${ALL_MUTANTS.length} mutants, every one killed; ${must.length} MUST clauses, every one with a kill.`,
    '',
    'This file is written from `packages/conformance/src/mutants`. What each clause says is in [contract.md](contract.md).',
    '',
    '## By clause',
    '',
    '| clause | caught |',
    '| --- | --- |',
    ...cases.map(({ id, level }) => `| ${id}${level === 'MUST' ? '' : ` (${level})`} | ${killersOf(id).join(', ')} |`),
    '',
    '## By mutant',
    '',
    '| mutant | tier | what is wrong | clauses that it fails |',
    '| --- | --- | --- | --- |',
    ...ALL_MUTANTS.map(
      ([tier, { name, wrong }]) => `| ${name} | ${tier} | ${wrong} | ${(KILL_TABLE[name] ?? []).join(', ')} |`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

/** Names of the mutants that the clause catches. */
export function killersOf(id: string): readonly string[] {
  return ALL_MUTANTS.flatMap(([, { name }]) => (KILL_TABLE[name]?.includes(id) === true ? [name] : []))
}
