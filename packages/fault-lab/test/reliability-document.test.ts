// Proves that docs/reliability.md shows every row of the table, as a whole run reached it, and every seeded bug.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OTHER_WEAKNESSES, TARGETS, WEAKNESSES, WHOLE, WHOLE_SCALE } from '../src/index.ts'

const text = readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8')

function section(name: string): string {
  return new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)<!-- /${name} -->`).exec(text)?.[1] ?? ''
}

/** The cells of every table of a section, one table after the other, without their heads. */
function tables(name: string): readonly (readonly (readonly string[])[])[] {
  return section(name)
    .split('\n\n')
    .map((part) => part.split('\n').filter((line) => line.startsWith('|')))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.slice(2).map((line) => line.split(' | ').map((cell) => cell.replaceAll('|', '').trim())))
}

it('lists every seeded bug', () => {
  const listed = tables('seeded bugs')[0]?.map(([name]) => name) ?? []
  for (const name of [...Object.keys(WEAKNESSES), ...Object.keys(OTHER_WEAKNESSES)]) expect(listed).toContain(name)
  expect(listed.length).toBeGreaterThanOrEqual(WHOLE.seededBugs)
})

it('shows every row of the table, in its order, reached without a violation', () => {
  const [rows = []] = tables('figures')
  expect(rows.map(([row, figure]) => [row, figure])).toEqual(TARGETS.map(({ row, figure }) => [row, figure]))
  for (const [row, , tried, violations, verdict] of rows) {
    expect([row, violations, verdict]).toEqual([row, '0', 'reached'])
    expect(tried).toMatch(/\d/)
  }
})

it('shows the figures of a whole run, and what each suite did', () => {
  const scale = /^Scale ([0-9.]+), seed \d+\.$/m.exec(section('figures'))?.[1]
  expect(Number(scale)).toBeGreaterThanOrEqual(WHOLE_SCALE)
  const suites = tables('figures')[1] ?? []
  for (const [suite, , violations] of suites) expect([suite, violations]).toEqual([suite, '0'])
  const named = new Set(suites.map(([suite = '']) => suite.split(':')[0]))
  for (const { goals } of TARGETS) for (const { suite } of goals) expect(named).toContain(suite)
})
