// Proves: a signal of AbortSignal.timeout ends what it was given to, also when nobody but the library holds it.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const follower = fileURLToPath(new URL('./processes/follow-until-timeout.mjs', import.meta.url))
let directory = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'session-persistence-timeout-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

it.each(['memory:', 'jsonl:sessions', 'jsonl-zstd:sessions', 'sqlite:sessions.db'])('%s', async (location) => {
  // The limit kills a follower that nothing ends any more.
  const limits = { cwd: directory, timeout: 60_000 }
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', follower, location], limits)
  expect(stdout).toBe('TimeoutError after 1\n')
})
