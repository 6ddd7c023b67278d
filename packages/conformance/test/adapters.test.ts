// The same verdict on every clause of every backend, whoever runs the kit: the command, vitest, node:test, and a runner
// shaped like jest, each in a process of its own as its users have it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import type { ConformanceReport } from '../src/report/conformance-report.ts'
import type { RunOptions } from '../src/run-options.ts'
import { type CommandResult, runConformanceCommand, runNode } from './run-conformance-command.ts'

const scale = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)
/** Of the backends on a medium, each runner tries every so many clauses: another part of the contract on each. */
const stride = scale >= 5 ? 1 : 20
/** Clauses that a backend skips, or that do not apply to it, must look alike too. */
const ALWAYS = ['CAP-2', 'CAP-7', 'CAP-9', 'CAP-10', 'VERSION-2']

const BACKENDS: Readonly<Record<string, string>> = {
  memory: './harnesses/memory.mjs',
  broken: './harnesses/broken.mjs',
  jsonl: '../../jsonl/test/conformance-harness.mjs',
  'jsonl-zstd': '../../jsonl-zstd/test/conformance-harness.mjs',
  ...(isDriverThere() ? { sqlite: '../../sqlite/test/conformance-harness.mjs' } : {}),
}

function isDriverThere(): boolean {
  try {
    createRequire(new URL('../../sqlite/package.json', import.meta.url))('better-sqlite3')
    return true
  } catch {
    return false
  }
}

const directory = mkdtempSync(join(tmpdir(), 'session-persistence-adapters-'))
afterAll(() => rmSync(directory, { recursive: true }))

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Every clause with its verdict and how it failed. */
function verdicts({ outcome, reached, results }: ConformanceReport): unknown {
  return [outcome, reached, results.map(({ id, status, message, failure }) => [id, status, message, failure?.history])]
}

function readReport(file: string): ConformanceReport {
  return JSON.parse(readFileSync(file, 'utf8')) as ConformanceReport
}

describe.each(Object.entries(BACKENDS))('%s', (name, module) => {
  const part = Object.keys(BACKENDS).indexOf(name)
  const whole = stride === 1 || name === 'memory' || name === 'broken'
  const ids = ALL_CASES.map(({ id }) => id).filter((id, index) => {
    return whole || index % stride === part || ALWAYS.includes(id)
  })
  const options: RunOptions = { effort: 'quick', ids }
  const path = pathOf(module)
  const expected: { report?: ConformanceReport } = {}

  /** Runs Node on a runner of `harnesses`; its report must be the command's. */
  async function expectSameVerdicts(runner: string, args: readonly string[]): Promise<CommandResult> {
    const file = join(directory, `${name}-${runner}.json`)
    const env = {
      CONFORMANCE_HARNESS: new URL(module, import.meta.url).href,
      CONFORMANCE_OPTIONS: JSON.stringify(options),
      CONFORMANCE_REPORT: file,
    }
    const result = await runNode(args, { env })
    if (expected.report === undefined) throw new Error('the command gave no report')
    expect(verdicts(readReport(file))).toEqual(verdicts(expected.report))
    expect(result.code).toBe(expected.report.outcome === 'conforms' ? 0 : 1)
    return result
  }

  /** What a runner must count: one more passes, the test that makes the report. */
  function counted(): { readonly passed: number; readonly failed: number; readonly skipped: number } {
    const { passed, failed, skipped, notApplicable } = expected.report?.counts ?? expect.fail('no report')
    return { passed: passed + 1, failed, skipped: skipped + notApplicable }
  }

  it('is tried by the command', async () => {
    const out = join(directory, name)
    const args = [path, '--effort', 'quick', '--id', ids.join(','), '--report', 'json', '--out', out]
    const { code } = await runConformanceCommand(args)
    const report = readReport(join(out, 'conformance.json'))
    expect(report.results.map(({ id }) => id)).toEqual(ids)
    expect([report.outcome, code]).toEqual(name === 'broken' ? ['violations', 1] : ['conforms', 0])
    expected.report = report
  })

  it('gets the same verdicts under node:test', async () => {
    const { output } = await expectSameVerdicts('node-test', ['--test', pathOf('./harnesses/node-test-run.mjs')])
    const { passed, failed, skipped } = counted()
    for (const line of [`pass ${passed}`, `fail ${failed}`, `skipped ${skipped}`]) {
      expect(output).toMatch(new RegExp(`${line}\\n`))
    }
  })

  it('gets the same verdicts under vitest', async () => {
    const vitest = join(fileURLToPath(import.meta.resolve('vitest')), '..', '..', 'vitest.mjs')
    const file = join(directory, `${name}-vitest-tests.json`)
    const args = ['run', '--root', pathOf('./harnesses'), '--config', pathOf('./harnesses/vitest-config.mjs')]
    await expectSameVerdicts('vitest', [vitest, ...args, '--reporter', 'json', '--outputFile', file])
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(file, 'utf8'))
    expect({ passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests }).toEqual(counted())
  })

  it('gets the same verdicts under a runner shaped like jest', async () => {
    const { output } = await expectSameVerdicts('jest', [pathOf('./harnesses/jest-shaped-run.mjs')])
    const { skipped } = expected.report?.counts ?? expect.fail('no report')
    // What does not apply is known beforehand here, and is no test.
    expect(JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')).toEqual({ ...counted(), skipped })
  })
})
