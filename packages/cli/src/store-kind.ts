import type { Dir } from 'node:fs'
import { opendir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The log of a session, as docs/formats/files.md names it. */
const logNames: { readonly [scheme: string]: string } = { jsonl: 'session.jsonl', 'jsonl-zstd': 'session.jsonl.zst' }

/** More would make every command on a large store slower, and the first directories tell. */
const directoriesLookedAtMax = 32
/** Some file systems list files that are no sessions first. */
const entriesLookedAtMax = 4096

/**
 * The scheme that a directory of sessions belongs to when that is another one than `scheme`; undefined otherwise, and
 * where it cannot be told. To the wrong backend such a directory looks like a store without sessions.
 */
export async function otherKindOfStore(directory: string, scheme: string): Promise<string | undefined> {
  const seen = new Set<string>()
  try {
    for await (const name of someDirectories(await opendir(directory))) {
      for (const file of await readdir(join(directory, name))) seen.add(file)
    }
  } catch {
    // What is wrong with it, the backend says in its own words.
    return undefined
  }
  if (seen.has(logNames[scheme] ?? '')) return undefined
  return Object.keys(logNames).find((other) => seen.has(logNames[other] ?? ''))
}

async function* someDirectories(root: Dir): AsyncGenerator<string, void, undefined> {
  let entries = 0
  let directories = 0
  for await (const entry of root) {
    entries += 1
    if (entry.isDirectory() && !entry.name.startsWith('.')) {
      directories += 1
      yield entry.name
    }
    if (entries >= entriesLookedAtMax || directories >= directoriesLookedAtMax) break
  }
}
