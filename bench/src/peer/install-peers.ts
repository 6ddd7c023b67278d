/** Installs the peers, and the Node that runs them, into a cache outside of any project. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { PEER_NODE, PEER_PACKAGES } from './peer.ts'

export interface InstalledPeers {
  /** The program to run them with. */
  readonly node: string
  /** Directory from which their packages are resolved. */
  readonly directory: string
}

/** Written last: without it the directory is what an interrupted install left. */
const COMPLETE = 'complete.json'

/**
 * Once for each set of versions; later runs find it there. Uses npm as it is set up on this machine. Rejects when npm
 * is missing, the registry cannot be reached, or something cannot be built.
 */
export async function installPeers(progress: (text: string) => void, signal?: AbortSignal): Promise<InstalledPeers> {
  const own = process.versions.node.split('.')[0] === PEER_NODE.split('.')[0]
  const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const wanted = { ...PEER_PACKAGES, ...(own ? {} : { [nodePackage]: PEER_NODE }) }
  const directory = path.join(cacheRoot(), hashOf({ wanted, node: own ? process.version : PEER_NODE }))
  const nodeHome = own
    ? path.dirname(path.dirname(process.execPath))
    : path.join(directory, 'node_modules', nodePackage)
  const node = own ? process.execPath : path.join(nodeHome, 'bin', 'node')
  if (await exists(path.join(directory, COMPLETE))) return { node, directory }
  await fs.rm(directory, { recursive: true, force: true })
  await fs.mkdir(directory, { recursive: true })
  const npm = async (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: directory,
      shell: process.platform === 'win32',
      maxBuffer: 2 ** 26,
      // The addon among them is built for the Node that will load it, with its headers where they came along.
      env: {
        ...process.env,
        PATH: [path.dirname(node), process.env.PATH].join(path.delimiter),
        ...((await exists(path.join(nodeHome, 'include', 'node'))) ? { npm_config_nodedir: nodeHome } : {}),
      },
      ...(signal === undefined ? {} : { signal }),
    })
  const manifest = { name: 'peers', private: true, type: 'module' }
  await fs.writeFile(path.join(directory, 'package.json'), JSON.stringify(manifest))
  if (!own) {
    progress(`installing Node ${PEER_NODE} for the peers`)
    await npm('install', '--ignore-scripts', `${nodePackage}@${PEER_NODE}`)
  }
  progress('installing the peers')
  await npm('install', ...Object.entries(PEER_PACKAGES).map(([name, version]) => `${name}@${version}`))
  // An addon that was neither downloaded nor built would show only in the middle of a run.
  await promisify(execFile)(node, ['-e', "new (require('better-sqlite3'))(':memory:')"], { cwd: directory })
  await fs.writeFile(path.join(directory, COMPLETE), JSON.stringify(wanted, null, 2))
  return { node, directory }
}

function cacheRoot(): string {
  const root = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache')
  return path.join(root, 'session-persistence-bench')
}

function hashOf(wanted: object): string {
  return createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 16)
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  )
}
