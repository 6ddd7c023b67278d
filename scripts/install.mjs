// Installs the workspace's dependencies when they are missing or out of date.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand } from './run-command.mjs'
import { readManifest, root, workspacePackages } from './workspace.mjs'

const stampFile = join(root, 'node_modules', '.session-persistence-install')

/** Changes whenever an install could lay something else: the lockfile, a manifest, or what native addons link to. */
function fingerprint() {
  const hash = createHash('sha256').update([process.platform, process.arch, process.versions.modules].join())
  const manifests = workspacePackages().map(({ directory }) => join(directory, 'package.json'))
  for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', '.npmrc']) {
    hash.update(readFileSync(join(root, file)))
  }
  for (const file of manifests) hash.update(readFileSync(file))
  return hash.digest('hex')
}

/**
 * Where this Node's own headers are, when they came with it: native addons then compile without downloading them.
 *
 * @returns {Record<string, string>}
 */
function localHeaders() {
  const prefix = dirname(dirname(realpathSync(process.execPath)))
  const present = existsSync(join(prefix, 'include', 'node', 'node.h'))
  return present && process.env.npm_config_nodedir === undefined ? { npm_config_nodedir: prefix } : {}
}

/**
 * The pinned pnpm: the installed one, or on a fresh clone the same version through npm, which comes with Node.
 *
 * @param {readonly string[]} args
 */
function runPnpm(args) {
  /** @type {{ show: 'all', env: Record<string, string> }} */
  const options = { show: 'all', env: localHeaders() }
  if (existsSync(join(root, 'node_modules', '.bin', 'pnpm'))) return runCommand('pnpm', args, options)
  const version = readManifest(root).packageManager
  if (version === undefined) throw new Error('package.json names no packageManager')
  const npmArgs = ['exec', '--yes', `--package=${version}`, '--', 'pnpm', ...args]
  const npm = process.env.npm_execpath
  return npm?.endsWith('npm-cli.js') === true
    ? runCommand(process.execPath, [npm, ...npmArgs], options)
    : runCommand('npm', npmArgs, options)
}

/** @returns {Promise<void>} */
export async function install() {
  const wanted = fingerprint()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  console.error('Installing dependencies...')
  const { ok } = await runPnpm(['install', '--frozen-lockfile'])
  if (!ok) throw new Error('installing the dependencies failed (see above)')
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(stampFile, wanted)
}
