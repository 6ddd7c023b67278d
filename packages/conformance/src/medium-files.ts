import { lstatSync, readFileSync } from 'node:fs'
import type { CaseMedium } from './conformance-case.ts'

/** The regular files of a medium with their whole contents, by path; those of its engine left out. */
export async function filesOf(medium: CaseMedium): Promise<Readonly<Record<string, string>>> {
  const contents: [string, string][] = []
  for (const path of await regularFiles(medium)) contents.push([path, readFileSync(path).toString('latin1')])
  return Object.fromEntries(contents)
}

/** Modification times in nanoseconds, by path. */
export async function mtimesOf(medium: CaseMedium): Promise<Readonly<Record<string, string>>> {
  const times: [string, string][] = []
  for (const path of await regularFiles(medium)) {
    times.push([path, String(lstatSync(path, { bigint: true }).mtimeNs)])
  }
  return Object.fromEntries(times)
}

/** Paths of the regular files, sorted; those of the engine left out, since something may have the medium open. */
export async function regularFiles(medium: CaseMedium): Promise<readonly string[]> {
  return (await regularFilesAtRest(medium)).filter((path) => !isEngineFile(medium, path))
}

/** Paths of all regular files, sorted. Nothing of this process may have the medium open while their bytes are read. */
export async function regularFilesAtRest(medium: CaseMedium): Promise<readonly string[]> {
  const paths = [...(await medium.files())].sort()
  return paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
}

export function isEngineFile(medium: CaseMedium, path: string): boolean {
  return medium.isEngineFile?.(path) === true
}
