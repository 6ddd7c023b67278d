// Proves that docs/reliability.md shows the figures of a run without a violation, and every seeded bug.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OTHER_WEAKNESSES, WEAKNESSES } from '../src/index.ts'

const text = readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8')

function rows(section: string): readonly (readonly string[])[] {
  const found = new RegExp(`<!-- ${section} -->\\n([\\s\\S]*?)<!-- /${section} -->`).exec(text)?.[1] ?? ''
  const lines = found.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

it('lists every seeded bug', () => {
  const listed = rows('seeded bugs').map(([name]) => name)
  for (const name of [...Object.keys(WEAKNESSES), ...Object.keys(OTHER_WEAKNESSES)]) expect(listed).toContain(name)
  expect(listed.length).toBeGreaterThanOrEqual(12)
})

it('shows a run of every suite without a violation', () => {
  const figures = rows('figures')
  const suites = new Set(figures.map(([name = '']) => name.split(':')[0]))
  for (const suite of [
    'power cuts, modelled',
    'kill, recover, power cut',
    'injected errors',
    'power cuts, from system calls',
    'killed at a system call',
    'errors of system calls',
    'killed at any moment',
    'disk full',
    'power cuts, real',
    'failed syncs, real',
    'fuzzed logs',
    'contention',
    'killed lock holders',
    'controls of the modelled power cuts',
  ]) {
    expect(suites).toContain(suite)
  }
  for (const [name, , violations] of figures) expect([name, violations]).toEqual([name, '0'])
})
