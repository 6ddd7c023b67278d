// The tests of every package, counted one by one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { runCommand } from '../run-command.mjs'
import { root } from '../workspace.mjs'

/**
 * @typedef {object} VitestReport
 * @property {{ name: string, status: string, message: string, assertionResults: { status: string, fullName: string }[] }[]} testResults
 */

/**
 * @param {VitestReport} report
 * @returns {import('../test.mjs').CheckResult}
 */
function countTests({ testResults }) {
  let [passed, failed, skipped] = [0, 0, 0]
  /** @type {string[]} */
  const notPassed = []
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative(root, name)
    for (const test of assertionResults) {
      if (test.status === 'passed') passed += 1
      else if (test.status === 'failed') failed += 1
      else skipped += 1 // skipped, todo, pending: whatever did not run did not pass
      if (test.status !== 'passed') notPassed.push(`${test.status}: ${file} > ${test.fullName}`)
    }
    // A file that could not be loaded has no tests to fail, but it did fail.
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      failed += 1
      notPassed.push(`failed: ${file}: ${message}`)
    }
  }
  return { passed, failed, skipped, output: notPassed.join('\n') }
}

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function tests() {
  const directory = mkdtempSync(join(tmpdir(), 'session-persistence-report-'))
  const reportFile = join(directory, 'vitest.json')
  try {
    const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
    const { ok } = await runCommand('vitest', args, { show: 'all' })
    const result = countTests(JSON.parse(readFileSync(reportFile, 'utf8')))
    if (ok || result.failed > 0) return result
    return { ...result, failed: 1, output: `vitest failed though no test did (see above)\n${result.output}` }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
