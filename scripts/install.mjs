// Installs the workspace's dependencies when they are missing or out of date.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
 * The pinned pnpm: the installed one, or on a fresh clone the same version through npm, which comes with Node.
 *
 * @param {readonly string[]} args
 */
function runPnpm(args) {
  if (existsSync(join(root, 'node_modules', '.bin', 'pnpm'))) return runCommand('pnpm', args, { show: 'all' })
  const version = readManifest(root).packageManager
  if (version === undefined) throw new Error('package.json names no packageManager')
  const npmArgs = ['exec', '--yes', `--package=${version}`, '--', 'pnpm', ...args]
  const npm = process.env.npm_execpath
  return npm?.endsWith('npm-cli.js') === true
    ? runCommand(process.execPath, [npm, ...npmArgs], { show: 'all' })
    : runCommand('npm', npmArgs, { show: 'all' })
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
