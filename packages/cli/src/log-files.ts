import type { Dirent, Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SessionError } from '@session-persistence/core'
import { systemError } from './system-error.ts'

const logName = /\.jsonl(?:\.zst|\.zstd)?$/

/**
 * The log files that a path means: itself, or, of a directory, every `.jsonl`, `.jsonl.zst` and `.jsonl.zstd` file below
 * it, in the order of their paths. Links in it are not followed: they could lead anywhere, and round in circles. A
 * directory without such a file is INVALID_ARGUMENT: more likely than not another one was meant. What cannot be listed
 * goes to `onFailure`, and keeps nothing else out.
 */
export async function* logFilesOf(
  path: string,
  onFailure: (error: unknown) => Promise<void>,
): AsyncGenerator<string, void, undefined> {
  if (!(await isDirectory(path))) return yield path
  let nothing = true
  const failed = async (error: unknown): Promise<void> => {
    nothing = false // what is there is not known, and that is said
    await onFailure(error)
  }
  for await (const file of filesBelow(path, failed)) {
    nothing = false
    yield file
  }
  if (!nothing) return
  const sentence = 'this directory holds no .jsonl, .jsonl.zst or .jsonl.zstd file'
  await onFailure(new SessionError('INVALID_ARGUMENT', sentence, { path }))
}

/** What cannot be looked at is no directory here: reading it as a file says what is wrong with it. */
async function isDirectory(path: string): Promise<boolean> {
  const facts: Stats | undefined = await stat(path).catch(() => undefined)
  return facts?.isDirectory() === true
}

async function* filesBelow(
  directory: string,
  onFailure: (error: unknown) => Promise<void>,
): AsyncGenerator<string, void, undefined> {
  for (const entry of await entriesOf(directory, onFailure)) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path, onFailure)
    else if (entry.isFile() && logName.test(entry.name)) yield path
  }
}

async function entriesOf(directory: string, onFailure: (error: unknown) => Promise<void>): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    await onFailure(systemError(error, 'a directory of logs could not be read', directory))
    return []
  }
}
