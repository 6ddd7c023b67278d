// What a vitest report adds up to: a test that did not run never counts as passed, nor does a file that did not load.
import { relative } from 'node:path'

/**
 * @typedef {object} VitestReport
 * @property {{ name: string, status: string, message: string, assertionResults: { status: string, fullName: string }[] }[]} testResults
 */

/**
 * @param {VitestReport} report
 * @param {string} root what file names are shown relative to
 * @returns {import('../test.mjs').CheckResult}
 */
export function countTests({ testResults }, root) {
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
