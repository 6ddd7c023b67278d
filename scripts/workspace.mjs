// Where the workspace is and what packages it holds. These scripts import nothing from outside Node: they run on a
// fresh clone, before anything is installed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {string} [packageManager]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, unknown>} [exports]
 */

/** @typedef {{ readonly directory: string, readonly manifest: Manifest }} WorkspacePackage */

export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @param {string} directory
 * @returns {Manifest}
 */
export function readManifest(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

/**
 * Every package of the workspace, as pnpm-workspace.yaml lists them.
 *
 * @returns {WorkspacePackage[]}
 */
export function workspacePackages() {
  const inPackages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))
  return [...inPackages, join(root, 'bench'), join(root, 'docs')]
    .filter((directory) => existsSync(join(directory, 'package.json')))
    .map((directory) => ({ directory, manifest: readManifest(directory) }))
}

/** The packages that are published. */
export function publicPackages() {
  return workspacePackages().filter(({ manifest }) => !manifest.private)
}
