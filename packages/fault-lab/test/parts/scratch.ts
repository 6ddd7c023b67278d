/** Directories that are removed after the tests of a file; in memory where the machine has such a place. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []

afterAll(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true })
})

const MEMORY = '/dev/shm'

export function scratchDirectory(where: 'disk' | 'memory' = 'disk'): string {
  const parent = where === 'memory' && existsSync(MEMORY) ? MEMORY : tmpdir()
  const path = mkdtempSync(join(realpathSync(parent), 'fault-lab-'))
  made.push(path)
  return path
}
