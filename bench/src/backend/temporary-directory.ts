import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

/** A new empty directory where this run keeps its stores: under TMPDIR, which `--dir` sets. */
export function temporaryDirectory(): Promise<string> {
  return fs.mkdtemp(path.join(os.tmpdir(), 'session-persistence-bench-'))
}
