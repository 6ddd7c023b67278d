import { readdirSync, readlinkSync } from 'node:fs'
import { sep } from 'node:path'

/** Where Linux shows what a process has open. Other systems are not asked: a leak is then found on Linux. */
const DESCRIPTORS = '/proc/self/fd'

/** Paths of the files below `location`, or among `files`, that this process has open; empty where nobody can tell. */
export function openFilesOf(location: string | undefined, files: readonly string[]): readonly string[] {
  const listed = new Set(files)
  return openPaths().filter((path) => {
    return listed.has(path) || (location !== undefined && (path === location || path.startsWith(location + sep)))
  })
}

function openPaths(): readonly string[] {
  let descriptors: readonly string[]
  try {
    descriptors = readdirSync(DESCRIPTORS)
  } catch {
    return []
  }
  return descriptors.flatMap((descriptor) => {
    try {
      return [readlinkSync(`${DESCRIPTORS}/${descriptor}`).replace(/ \(deleted\)$/, '')]
    } catch {
      // The one that listed the directory is gone by now.
      return []
    }
  })
}
