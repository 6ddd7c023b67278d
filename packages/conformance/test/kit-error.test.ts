// A call of the system that fails in the kit itself is the kit's, with a stack; one that fails in the backend is not.
import { readFileSync } from 'node:fs'
import { createMemoryMedium, openMemory } from '@session-persistence/core'
import { expect, it } from 'vitest'
import type { ConformanceCase } from '../src/conformance-case.ts'
import { expectThat } from '../src/expectation.ts'
import type { Harness, Medium } from '../src/harness.ts'
import { EXIT_CODES } from '../src/report/conformance-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

function ioCase(id: string, run: ConformanceCase['run']): ConformanceCase {
  return { id, level: 'MUST', family: 'IO', title: 'A clause.', why: 'x', since: '0.1', needs: { tier: 'io' }, run }
}

const violated = ioCase('IO-1', async () => expectThat(false, 'always'))
const failing = ioCase('IO-2', async () => {
  readFileSync('/nowhere/at/all')
})

async function run(cases: readonly ConformanceCase[], harness: Harness = memoryHarness) {
  return runConformance(harness, { families: ['IO'], extensions: [{ tier: 'io', cases }] })
}

it('names the clause, and where in the kit it was', async () => {
  const report = await run([failing])
  expect([report.outcome, EXIT_CODES[report.outcome], report.results]).toEqual(['harness-error', 2, []])
  expect(report.harnessError).toContain('kit error: the kit itself failed in IO-2, not the backend: ENOENT')
  expect(report.harnessError).toMatch(/\n {4}at .*kit-error\.test\.ts/)
})

it('hides no violation that was found before', async () => {
  const report = await run([violated, failing])
  expect(report.outcome).toBe('harness-error')
  expect(report.results.map(({ id, status }) => [id, status])).toEqual([['IO-1', 'failed']])
  expect(report.harnessError).toContain('Before that the backend failed IO-1: see above.')
})

it('is a violation where a call of the backend throws it', async () => {
  let opened = 0
  const createMedium = () => {
    const medium = createMemoryMedium()
    const open: Medium['open'] = async (options) => {
      opened += 1
      // The first two are the kit's first look.
      if (opened > 2) readFileSync('/nowhere/at/all')
      return openMemory({ ...options, medium })
    }
    return { open }
  }
  const opening = ioCase('IO-1', async (context) => {
    await context.open()
  })
  const report = await run([opening], { name: 'wrong', createMedium })
  expect(report.results.map(({ status }) => status)).toEqual(['failed'])
  expect(report.results[0]?.message).toContain('ENOENT')
})
