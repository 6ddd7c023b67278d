// Many clauses that fail with one message are told as one, with the clause to look at first; no message is longer than a line is read.
import { expect, it } from 'vitest'
import type { ConformanceCase } from '../src/conformance-case.ts'
import { expectThat } from '../src/expectation.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

function failing(id: string, what: string): ConformanceCase {
  const run: ConformanceCase['run'] = async () => expectThat(false, what)
  return { id, level: 'MUST', family: 'IO', title: 'A clause.', why: 'x', since: '0.1', needs: { tier: 'io' }, run }
}

async function report(...messages: readonly string[]) {
  const cases = messages.map((message, index) => failing(`IO-${index + 1}`, message))
  return runConformance(memoryHarness, { families: ['IO'], extensions: [{ tier: 'io', cases }] })
}

it('three of one kind are told together', async () => {
  const text = formatReport(await report('closed', 'other', 'closed', 'closed'))
  expect(text).toContain('\n3 clauses fail in the same way; look at IO-1 first: IO-1 IO-3 IO-4\n')
  expect(formatReport(await report('closed', 'closed'))).not.toContain('in the same way')
})

it('a long message is cut', async () => {
  const { results } = await report('x'.repeat(5_000))
  expect(results[0]?.message).toBe(`${'x'.repeat(600)}... (5000 characters)`)
})
