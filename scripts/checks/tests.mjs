// The tests of every package, counted one by one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../run-command.mjs'
import { root } from '../workspace.mjs'
import { countTests } from './count-tests.mjs'

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function tests() {
  const directory = mkdtempSync(join(tmpdir(), 'session-persistence-report-'))
  const reportFile = join(directory, 'vitest.json')
  try {
    const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
    const { ok } = await runCommand('vitest', args, { show: 'all' })
    const result = countTests(JSON.parse(readFileSync(reportFile, 'utf8')), root)
    if (ok || result.failed > 0) return result
    return { ...result, failed: 1, output: `vitest failed though no test did (see above)\n${result.output}` }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
