// Runs one command, with the workspace's own tools first on the path.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { root } from './workspace.mjs'

/** @typedef {{ readonly ok: boolean, readonly output: string }} CommandResult */

// `npm test --silent` is meant for npm: passed on, it would hide why an install failed. FORCE_COLOR outranks NO_COLOR.
const { npm_config_loglevel: _, FORCE_COLOR: __, ...inherited } = process.env

const environment = {
  ...inherited,
  // turbo starts each package's script through pnpm, and must find the pinned one rather than the machine's.
  PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  // Some tools colour their output whenever CI is set; a log file is easier to read without.
  ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
}

/**
 * Resolves when the command has ended, whatever its exit code; a command that cannot start counts as failed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, show?: 'all' | 'nothing', env?: Record<string, string> }} [options] `show: 'all'` passes the
 *   output on to the terminal; by default it is collected into `output`
 * @returns {Promise<CommandResult>}
 */
export function runCommand(command, args, { cwd = root, show = 'nothing', env = {} } = {}) {
  const windows = process.platform === 'win32'
  const child = spawn(command, args, {
    cwd,
    env: { ...environment, ...env },
    shell: windows && command !== process.execPath, // tools are .cmd files there, which only a shell starts
    stdio: show === 'all' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  })
  /** @type {string[]} */
  const pieces = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (piece) => pieces.push(piece))
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ ok: false, output: `${command}: ${error.message}\n` }))
    child.on('close', (code) => resolve({ ok: code === 0, output: pieces.join('') }))
  })
}
