import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SessionError } from '@session-persistence/core'
import { systemError } from './system-error.ts'

const logName = /\.jsonl(?:\.zst|\.zstd)?$/

/**
 * The log files that a path means: itself, or, of a directory, every `.jsonl`, `.jsonl.zst` and `.jsonl.zstd` file below
 * it, in the order of their paths. Links in it are not followed: they could lead anywhere, and round in circles. A
 * directory without such a file is INVALID_ARGUMENT: more likely than not another one was meant.
 */
export async function logFilesOf(path: string): Promise<readonly string[]> {
  if (!(await isDirectory(path))) return [path]
  const found: string[] = []
  await collect(path, found)
  if (found.length > 0) return found
  throw new SessionError('INVALID_ARGUMENT', 'this directory holds no .jsonl, .jsonl.zst or .jsonl.zstd file', { path })
}

/** What cannot be looked at is no directory here: reading it as a file says what is wrong with it. */
async function isDirectory(path: string): Promise<boolean> {
  const facts: Stats | undefined = await stat(path).catch(() => undefined)
  return facts?.isDirectory() === true
}

async function collect(directory: string, found: string[]): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw systemError(error, 'a directory of logs could not be read', directory)
  })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await collect(path, found)
    else if (entry.isFile() && logName.test(entry.name)) found.push(path)
  }
}
