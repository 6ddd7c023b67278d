import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** SHA-256 of every file below `root`, by relative path. Lock files are left out: their content names a process. */
export async function fileHashes(root: string): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(root, path)
    if (!entry.isFile() || name.includes('.lock')) continue
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    hashes.set(name, hash.digest('hex'))
  }
  return hashes
}

/** Every file of `before` is there, with the same bytes. */
export function unchanged(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean {
  return [...before].every(([name, hash]) => after.get(name) === hash)
}
