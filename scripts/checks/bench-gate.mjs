// The bench gate: nothing became slower, larger or hungrier than the committed baseline says (docs/bench.md).
import { join } from 'node:path'
import { runCommand } from '../run-command.mjs'
import { root } from '../workspace.mjs'

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function benchGate() {
  const { ok, output } = await runCommand(process.execPath, [join(root, 'bench', 'dist', 'main.js'), 'gate'])
  return { passed: Number(ok), failed: Number(!ok), skipped: 0, output }
}
