import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const made = new Set<string>()

/**
 * A new empty directory where this run keeps its stores: under TMPDIR, which `--dir` sets. Whoever asked for it removes it; what
 * still stands when the process exits is removed then.
 */
export function temporaryDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'session-persistence-bench-'))
  if (made.size === 0) process.once('exit', removeWhatIsLeft)
  made.add(directory)
  return directory
}

function removeWhatIsLeft(): void {
  for (const directory of made) fs.rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}
