import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Real logs, kept beside the checkout. */
export const CORPUS: string = fileURLToPath(new URL('../../../../../shared/corpus', import.meta.url))
export const hasCorpus: boolean = existsSync(join(CORPUS, 'MANIFEST.json'))

/** Paths of every file below a folder of the corpus, in order. */
export function corpusFiles(folder: string): string[] {
  if (!hasCorpus) return []
  const root = join(CORPUS, folder)
  return readdirSync(root, { recursive: true })
    .map((name) => join(root, String(name)))
    .filter((path) => statSync(path).isFile())
    .sort()
}

export function corpusName(path: string): string {
  return relative(CORPUS, path)
}
