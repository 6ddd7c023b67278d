import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { SessionError } from 'session-persistence'

const made = new Set<string>()

/**
 * A new empty directory where this run keeps its stores: under TMPDIR, which `--dir` sets. Whoever asked for it removes it; what
 * still stands when the process exits is removed then. NOT_FOUND where that place is not there,
 * INVALID_ARGUMENT where nothing can be made in it.
 */
export function temporaryDirectory(): string {
  const directory = newDirectory(os.tmpdir())
  if (made.size === 0) process.once('exit', removeWhatIsLeft)
  made.add(directory)
  return directory
}

const NO_PLACE = ['ENOENT', 'ENOTDIR', 'EACCES', 'EROFS', 'ELOOP']

function newDirectory(place: string): string {
  try {
    return fs.mkdtempSync(path.join(place, 'session-persistence-bench-'))
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    if (!NO_PLACE.includes(code)) throw cause
    const why = code === 'ENOENT' ? 'NOT_FOUND' : 'INVALID_ARGUMENT'
    throw new SessionError(why, `no store can be made in ${place}: ${code}`, { path: place, cause })
  }
}

function removeWhatIsLeft(): void {
  for (const directory of made) fs.rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}
