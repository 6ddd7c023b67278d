import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

const made: string[] = []

afterEach(async () => {
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true })
})

/** An empty directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'sqlite-test-')))
  made.push(path)
  return path
}
