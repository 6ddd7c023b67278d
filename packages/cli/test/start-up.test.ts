// Proves that the built command starts and says what it is.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

test('the built command runs under node', () => {
  expect(execFileSync(process.execPath, [main, '--help'], { encoding: 'utf8' })).toContain('session-persistence')
})
