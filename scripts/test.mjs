// `npm test [-- CHECK...]`: sets up what is missing, then runs every check and the tests of every package, all of them
// even when one fails. The last line counts checks and tests together: `N passed, N failed, N skipped`.
import { backendTemplate } from './checks/backend-template.mjs'
import { benchGate } from './checks/bench-gate.mjs'
import { docsExamples } from './checks/docs-examples.mjs'
import { docsLinks } from './checks/docs-links.mjs'
import { packedPackages } from './checks/packed-packages.mjs'
import { deadCode, lint, types, workspaceRules } from './checks/static.mjs'
import { tests } from './checks/tests.mjs'
import { setUp } from './setup.mjs'

/**
 * @typedef {object} CheckResult
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string} [output] shown when the check failed or skipped something
 */

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {() => Promise<CheckResult>} run
 * @property {boolean} [unasked] false: only when it is named, or everything is wanted (SESSION_PERSISTENCE_ALL_CHECKS=1)
 */

/** @type {readonly Check[]} */
const checks = [
  { name: 'setup', run: setUpAsCheck },
  { name: 'lint', run: lint },
  { name: 'types', run: types },
  { name: 'dead-code', run: deadCode },
  { name: 'workspace', run: workspaceRules },
  { name: 'docs-links', run: docsLinks },
  { name: 'docs-examples', run: docsExamples },
  { name: 'packed', run: packedPackages },
  { name: 'template', run: backendTemplate },
  // Some minutes, on a machine that does nothing else: in CI, and when it is asked for.
  { name: 'bench-gate', run: benchGate, unasked: process.env.SESSION_PERSISTENCE_ALL_CHECKS === '1' },
  { name: 'tests', run: tests },
]

/** @returns {Promise<CheckResult>} */
async function setUpAsCheck() {
  await setUp()
  return { passed: 1, failed: 0, skipped: 0 }
}

/** @param {Check} check */
async function runCheck({ name, run }) {
  const startedAt = performance.now()
  /** @type {CheckResult} */
  const result = await run().catch((error) => ({ passed: 0, failed: 1, skipped: 0, output: `${error.message}\n` }))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const verdict = result.failed > 0 ? 'FAILED ' : result.passed > 0 ? 'ok     ' : 'skipped'
  const line = `${verdict}  ${name.padEnd(14)} ${seconds.padStart(6)} s`
  console.log(line)
  if (result.output && (result.failed > 0 || result.skipped > 0)) console.log(result.output.replace(/^/gm, '    '))
  return { line, ...result }
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name))
if (unknown.length > 0) {
  console.error(`No such check: ${unknown.join(', ')}. There are: ${checks.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

/** @type {(CheckResult & { line: string })[]} */
const results = []
for (const check of checks) {
  const chosen = wanted.length === 0 ? check.unasked !== false : check.name === 'setup' || wanted.includes(check.name)
  if (!chosen) continue
  const result = await runCheck(check)
  results.push(result)
  if (check.name === 'setup' && result.failed > 0) break // nothing else can run
}

/** @param {'passed' | 'failed' | 'skipped'} verdict */
const count = (verdict) => results.reduce((sum, result) => sum + result[verdict], 0)
console.log(['', ...results.map(({ line }) => line), ''].join('\n'))
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
process.exitCode = count('failed') > 0 || count('passed') === 0 ? 1 : 0
