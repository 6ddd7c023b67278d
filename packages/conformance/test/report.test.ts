// The report is JSON, ends in the counts, hides no tier, and is the same for the same seed.
import { describe, expect, it } from 'vitest'
import { FAMILIES } from '../src/conformance-case.ts'
import { LOGIC_MUTANTS } from '../src/mutants/all-mutants.ts'
import { mutantHarness } from '../src/mutants/mutant.ts'
import type { ConformanceReport } from '../src/report/conformance-report.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

function withoutDurations(report: ConformanceReport): unknown {
  return { ...report, results: report.results.map(({ durationMs: _, ...result }) => result) }
}

describe('the report', () => {
  it('of a sound backend conforms, names what was not exercised, and counts it as skipped', async () => {
    const report = await runConformance(memoryHarness, { effort: 'quick' })
    expect(report.outcome).toBe('conforms')
    expect(report.reached).toBe('core')
    expect(report.tiers.map(({ tier, exercised }) => [tier, exercised])).toEqual([
      ['logic', true],
      ['process', false],
      ['medium', false],
      ['io', false],
      ['power', false],
    ])
    const text = formatReport(report)
    expect(text).toContain('tier process: NOT EXERCISED, the harness has no `module` and `openAt`')
    expect(text).toContain('tier medium: NOT EXERCISED, the medium has no `files`')
    const { passed, failed, skipped } = report.counts
    expect(passed + failed + skipped).toBe(report.results.length)
    expect(skipped).toBe(report.results.filter(({ tier }) => tier !== 'logic').length)
    expect(text.split('\n').at(-1)).toBe(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  })

  it('survives JSON, and is the same for the same seed', async () => {
    const options = { families: ['DATA', 'READ'], effort: 'quick', seed: 7 } as const
    const [first, second] = [await runConformance(memoryHarness, options), await runConformance(memoryHarness, options)]
    expect(JSON.parse(JSON.stringify(first))).toEqual(first)
    expect(withoutDurations(first)).toEqual(withoutDurations(second))
  })

  it('of a wrong backend explains each failure: difference, history, usual cause, command', async () => {
    const mutant = LOGIC_MUTANTS.find(({ name }) => name === 'reverse-ignored')
    if (mutant === undefined) throw new Error('no such mutant')
    const report = await runConformance(mutantHarness(memoryHarness, mutant), { ids: ['READ-2', 'READ-3'], seed: 3 })
    expect([report.outcome, report.reached, report.counts]).toEqual([
      'violations',
      'none',
      { passed: 1, failed: 1, skipped: 0, notApplicable: 0 },
    ])
    const failure = report.results.find(({ id }) => id === 'READ-3')?.failure
    expect(failure).toEqual({
      message: 'the whole log: first difference at $[0].seq: expected 35, found 0',
      window: [
        expect.stringMatching(/^- \[0\] \{"seq":35,/),
        expect.stringMatching(/^\+ \[0\] \{"seq":0,/),
        expect.stringMatching(/^- \[1\] \{"seq":34,/),
        expect.stringMatching(/^\+ \[1\] \{"seq":1,/),
      ],
      history: [
        'p1 = open()',
        'p1.create({ id: "s" }) -> a session',
        ...['11', '23', '35'].flatMap((seq) => [
          'p1/"s".appendAll(12 events) -> accepted',
          expect.stringMatching(new RegExp(`^p1/"s"\\.flush\\(\\) -> \\{ seq: ${seq}, crc: "[0-9a-f]{8}" \\}$`)),
        ]),
        'p1/"s".close() -> done',
        'p1.read("s", { reverse: true }) -> 36 events',
      ],
      usualCause: '`reverse` must turn the order of the pages and of the events in each page.',
      repeat: 'npx @session-persistence/conformance ./harness.js --id READ-3 --seed 3',
    })
    const text = formatReport(report)
    expect(text).toContain('FAILED MUST READ-3: the whole log: first difference at $[0].seq: expected 35, found 0')
    expect(text).toContain('    history      p1 = open()')
  })

  it('runs the families that it is told to', async () => {
    const report = await runConformance(memoryHarness, { families: ['FORK'], effort: 'quick' })
    expect(new Set(report.results.map(({ family }) => family))).toEqual(new Set(['FORK']))
    expect(FAMILIES).toContain('FORK')
  })
})
