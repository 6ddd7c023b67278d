// The same verdict on every clause, whoever runs the kit: a program, vitest, node:test, a jest-shaped runner, the command.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type DescribeOptions, describeConformance, prepareConformance } from '../src/describe-conformance.ts'
import type { Harness } from '../src/harness.ts'
import { LOGIC_MUTANTS } from '../src/mutants/all-mutants.ts'
import { mutantHarness } from '../src/mutants/mutant.ts'
import type { ConformanceReport } from '../src/report/conformance-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'
import { runConformanceCommand, runNode } from './run-conformance-command.ts'

const directory = mkdtempSync(join(tmpdir(), 'session-persistence-adapters-'))
afterAll(() => rmSync(directory, { recursive: true }))

const mutant = LOGIC_MUTANTS.find(({ name }) => name === 'reverse-ignored')
if (mutant === undefined) throw new Error('no such mutant')
const BACKENDS: Readonly<Record<string, Harness>> = {
  memory: memoryHarness,
  broken: mutantHarness(memoryHarness, mutant),
}

const moduleOf = (name: string): URL => new URL(`./harnesses/${name}.mjs`, import.meta.url)

/** Every clause with its verdict and how it failed. */
function verdicts({ outcome, reached, results }: ConformanceReport): unknown {
  return [outcome, reached, results.map(({ id, status, message, failure }) => [id, status, message, failure?.history])]
}

function readReport(file: string): ConformanceReport {
  return JSON.parse(readFileSync(file, 'utf8')) as ConformanceReport
}

/** Runs bodies as vitest does: with a context that can skip, and a test that throws is red. */
async function throughVitest(harness: Harness): Promise<ConformanceReport> {
  const bodies: ((...context: unknown[]) => Promise<void>)[] = []
  let report: ConformanceReport | undefined
  const options: DescribeOptions = {
    effort: 'quick',
    onReport: (made) => {
      report = made
    },
  }
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (_: string, body: (...context: unknown[]) => Promise<void>) => bodies.push(body),
  }
  describeConformance(harness, runner, options)
  for (const body of bodies) await body({ skip: () => {} }).catch(() => {})
  if (report === undefined) throw new Error('no report')
  return report
}

/** As jest does: no context at all, skipping only beforehand, and a body that declares a parameter waits for ever. */
async function throughJest(
  harness: Harness,
): Promise<{ readonly report: ConformanceReport; readonly skipped: number }> {
  const bodies: (() => Promise<void>)[] = []
  let skipped = 0
  let report: ConformanceReport | undefined
  const it = Object.assign(
    (_: string, body: () => Promise<void>) => {
      if (body.length > 0) throw new Error('this body waits for a callback')
      bodies.push(body)
    },
    {
      skip: () => {
        skipped += 1
      },
    },
  )
  const runner = { describe: (_: string, body: () => void) => body(), it }
  describeConformance(await prepareConformance(harness, { effort: 'quick' }), runner, {
    onReport: (made) => {
      report = made
    },
  })
  for (const body of bodies) await body().catch(() => {})
  if (report === undefined) throw new Error('no report')
  return { report, skipped }
}

describe.each(Object.entries(BACKENDS))('%s', (name, harness) => {
  it('gets the same verdicts from every runner', async () => {
    const direct = await runConformance(harness, { effort: 'quick' })
    const expected = verdicts(direct)
    expect(verdicts(await throughVitest(harness))).toEqual(expected)

    const jest = await throughJest(harness)
    expect(verdicts(jest.report)).toEqual(expected)
    expect(jest.skipped).toBe(direct.counts.skipped)

    const file = join(directory, `${name}.json`)
    const env = { CONFORMANCE_HARNESS: moduleOf(name).href, CONFORMANCE_REPORT: file }
    const nodeTest = await runNode(['--test', new URL('./harnesses/node-test-run.mjs', import.meta.url).pathname], {
      env,
    })
    expect(nodeTest.errors).toBe('')
    expect(verdicts(readReport(file))).toEqual(expected)
    expect(nodeTest.code).toBe(direct.outcome === 'conforms' ? 0 : 1)
    const { passed, failed, skipped } = direct.counts
    // One more test is the report itself.
    expect(nodeTest.output).toMatch(new RegExp(`pass ${passed + 1}\\n`))
    expect(nodeTest.output).toMatch(new RegExp(`fail ${failed}\\n`))
    expect(nodeTest.output).toMatch(new RegExp(`skipped ${skipped}\\n`))

    const args = [moduleOf(name).pathname, '--effort', 'quick', '--report', 'json', '--out', directory]
    const command = await runConformanceCommand(args)
    expect(verdicts(readReport(join(directory, 'conformance.json')))).toEqual(expected)
    expect(command.code).toBe(direct.outcome === 'conforms' ? 0 : 1)
  })
})
