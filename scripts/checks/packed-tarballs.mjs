// What the checks of packed packages share: packing, installing outside the workspace, counting what was tried.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../run-command.mjs'
import { publicPackages, readManifest, root } from '../workspace.mjs'

/** @typedef {import('../workspace.mjs').Manifest & { readonly tarball: string }} PackedPackage */

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 */
export async function must(command, args, options) {
  const { ok, output } = await runCommand(command, args, options)
  if (!ok) throw new Error(`${command} ${args.join(' ')}\n${output}`)
  return output
}

/**
 * Packs the public packages, or those of these names, into a directory.
 *
 * @param {string} directory
 * @param {readonly string[]} [names]
 * @returns {Promise<PackedPackage[]>}
 */
export async function pack(directory, names) {
  const chosen = publicPackages().filter(({ manifest }) => names?.includes(manifest.name) ?? true)
  const packing = chosen.map(async ({ directory: cwd, manifest }) => {
    await must('pnpm', ['pack', '--pack-destination', directory], { cwd })
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
    return { ...manifest, tarball: join(directory, file) }
  })
  return Promise.all(packing)
}

/**
 * What the manifest of a project outside the workspace says of these packages.
 *
 * @param {readonly PackedPackage[]} packed
 */
export function installed(packed) {
  const tarballs = Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`]))
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const nodeTypes = readManifest(join(root, 'node_modules', '@types', 'node'))
  return {
    packageManager: `pnpm@${devDependencies.pnpm}`,
    dependencies: tarballs,
    devDependencies: { '@types/node': nodeTypes.version },
    // Packages that depend on each other must find these tarballs, not published ones.
    pnpm: { overrides: tarballs },
  }
}

/** Installs a project outside the workspace, from the store of this one. @param {string} cwd */
export async function installOutside(cwd) {
  const store = (await must('pnpm', ['store', 'path'], { cwd: root })).trim()
  await must('pnpm', ['install', '--ignore-workspace', '--prefer-offline', '--store-dir', store], { cwd })
}

/** The result of a check, and how a step is counted in it. */
export function countedSteps() {
  /** @type {{ passed: number, failed: number, skipped: number, output: string }} */
  const result = { passed: 0, failed: 0, skipped: 0, output: '' }
  /** @param {Promise<unknown>} step */
  const count = async (step) => {
    try {
      await step
      result.passed += 1
    } catch (error) {
      result.failed += 1
      result.output += `${error instanceof Error ? error.message : error}\n`
    }
  }
  return { result, count }
}
