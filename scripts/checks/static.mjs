// Checks that read the source and run nothing of it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../run-command.mjs'
import { root, workspacePackages } from '../workspace.mjs'

/** @typedef {import('../test.mjs').CheckResult} CheckResult */

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<CheckResult>}
 */
async function checkByCommand(command, args) {
  const { ok, output } = await runCommand(command, args)
  return { passed: Number(ok), failed: Number(!ok), skipped: 0, output }
}

/** Lint and format, both by biome. */
export function lint() {
  // A warning that does not fail is a warning that nobody reads.
  return checkByCommand('biome', ['check', '--error-on-warnings', '.'])
}

/** Sources, tests and these scripts. */
export function types() {
  const tests = workspacePackages()
    .map(({ directory }) => join(directory, 'test'))
    .filter((directory) => existsSync(join(directory, 'tsconfig.json')))
  return checkByCommand('tsc', ['-b', root, join(root, 'scripts'), ...tests])
}

/** Unused files, exports and dependencies, and dependencies that no manifest lists. */
export function deadCode() {
  return checkByCommand('knip', ['--no-progress', '--no-config-hints'])
}

/** One version of each dependency, ordered manifests and the like. */
export function workspaceRules() {
  return checkByCommand('sherif', [])
}
