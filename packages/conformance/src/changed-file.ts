import { readFileSync } from 'node:fs'
import type { CaseContext } from './conformance-case.ts'
import { regularFiles } from './medium-files.ts'

export type FileContents = ReadonlyMap<string, Buffer>

/** The bytes of all files now, by path; those of the engine left out. */
export async function contents(context: CaseContext): Promise<FileContents> {
  const paths = await regularFiles(context.medium)
  return new Map(paths.map((path) => [path, readFileSync(path)]))
}

/** The file that grew by appending; else the largest of those that are there before and after with other contents. */
export function changedFile(
  before: FileContents,
  after: FileContents,
): { readonly path: string; readonly grew: boolean } | undefined {
  const changed: { readonly path: string; readonly grew: boolean; readonly size: number }[] = []
  for (const [path, bytes] of after) {
    const earlier = before.get(path)
    if (earlier === undefined || earlier.length === 0 || bytes.equals(earlier)) continue
    const grew = bytes.length > earlier.length && bytes.subarray(0, earlier.length).equals(earlier)
    changed.push({ path, grew, size: bytes.length })
  }
  return changed.find(({ grew }) => grew) ?? changed.sort((a, b) => b.size - a.size)[0]
}
