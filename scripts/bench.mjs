// `npm run bench [-- OPTIONS]`: sets up what is missing, then measures every backend (`--help` lists the options).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setUp } from './setup.mjs'
import { root } from './workspace.mjs'

try {
  await setUp()
  const main = join(root, 'bench', 'dist', 'main.js')
  const bench = spawn(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  // The report of an interrupted run is still to come: the child ends first.
  process.on('SIGINT', () => {})
  bench.on('close', (code) => {
    process.exitCode = code ?? 1
  })
} catch (error) {
  console.error(`Setting up failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
