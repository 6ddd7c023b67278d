// `npm start [-- FILE]`: sets up what is missing, then shows what the project does (`session-persistence tour`).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setUp } from './setup.mjs'
import { root } from './workspace.mjs'

try {
  await setUp()
  const main = join(root, 'packages', 'cli', 'dist', 'main.js')
  const tour = spawn(process.execPath, [main, 'tour', ...process.argv.slice(2)], { stdio: 'inherit' })
  tour.on('close', (code) => {
    process.exitCode = code ?? 1
  })
} catch (error) {
  console.error(`Setting up failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
