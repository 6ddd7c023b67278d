// The tests of every package, counted one by one.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../run-command.mjs'
import { root } from '../workspace.mjs'
import { countTests } from './count-tests.mjs'

const FAULT_LAB = 'packages/fault-lab'
/** Made by later lines of Node, for whoever asks for it. */
const NODE_CACHE = 'node-compile-cache'
/** Files whose processes have deadlines, or measure: they leave a processor free. The others take all. */
const TIMED = [
  { part: 'packages/conformance/', pattern: 'packages/conformance/**' },
  { part: 'bench/test/', pattern: 'bench/**' },
  { part: '/test/conformance', pattern: '**/test/conformance*' },
  { part: '/test/hostile-content', pattern: '**/test/hostile-content*' },
  { part: '/test/hostile-frames', pattern: '**/test/hostile-frames*' },
  { part: 'processes.test.ts', pattern: '**/*processes.test.ts' },
]

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function tests() {
  const directory = mkdtempSync(join(tmpdir(), 'session-persistence-tests-'))
  const temporary = join(directory, 'tmp')
  mkdirSync(temporary)
  /** @param {string} report @param {readonly string[]} chosen @param {Record<string, string>} [env] */
  const run = (report, chosen, env) => runTests(join(directory, report), chosen, { TMPDIR: temporary, ...env })
  try {
    const all = `--maxWorkers=${availableParallelism()}`
    const withoutLab = ['--exclude', `${FAULT_LAB}/**`]
    const withoutTimed = TIMED.flatMap(({ pattern }) => ['--exclude', pattern])
    const most = await run('most.json', [all, ...withoutLab, ...withoutTimed])
    const named = TIMED.map(({ part }) => part)
    const timed = await run('timed.json', [...named, ...withoutLab])
    const evidence = process.env.SESSION_PERSISTENCE_EVIDENCE || join(directory, 'evidence')
    const faults = await run('faults.json', [FAULT_LAB, all], {
      SESSION_PERSISTENCE_EVIDENCE: evidence,
    })
    const figures = await runCommand('node', [`${FAULT_LAB}/scripts/write-figures.mjs`, '--check', '--from', evidence])
    console.log(figures.output)
    const reached = { passed: figures.ok ? 1 : 0, failed: figures.ok ? 0 : 1, skipped: 0, output: '' }
    if (!figures.ok) reached.output = 'The table of docs/reliability.md was not reached (see above).\n'
    return sum([most, timed, faults, reached, leftBehind(temporary)])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * What the tests, and the processes that they start and kill, left in the place for temporary files.
 *
 * @param {string} directory
 * @returns {import('../test.mjs').CheckResult}
 */
function leftBehind(directory) {
  const left = readdirSync(directory).filter((name) => name !== NODE_CACHE)
  if (left.length === 0) return { passed: 1, failed: 0, skipped: 0 }
  return { passed: 0, failed: 1, skipped: 0, output: `The tests left behind: ${left.join(', ')}\n` }
}

/**
 * @param {string} reportFile
 * @param {readonly string[]} chosen
 * @param {Record<string, string>} env
 */
async function runTests(reportFile, chosen, env) {
  const args = ['run', ...chosen, '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const { ok } = await runCommand('vitest', args, { show: 'all', env })
  const result = countTests(JSON.parse(readFileSync(reportFile, 'utf8')), root)
  if (ok || result.failed > 0) return result
  return { ...result, failed: 1, output: `vitest failed though no test did (see above)\n${result.output ?? ''}` }
}

/**
 * @param {readonly import('../test.mjs').CheckResult[]} results
 * @returns {import('../test.mjs').CheckResult}
 */
function sum(results) {
  /** @param {'passed' | 'failed' | 'skipped'} verdict */
  const count = (verdict) => results.reduce((total, result) => total + result[verdict], 0)
  const output = results.map((result) => result.output ?? '').join('')
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), output }
}
