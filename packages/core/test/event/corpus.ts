/** Real logs beside the checkout, where there are any. Their content stays there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = fileURLToPath(new URL('../../../../../shared/corpus/', import.meta.url))

/** For `describe.skipIf`. */
export const corpusAbsent: boolean = !existsSync(directory)

/** Title of a test on the corpus; says so where it is absent. */
export function onCorpus(title: string): string {
  return corpusAbsent ? `${title} (skipped: no corpus at ../shared/corpus)` : title
}

/** Every whole line of JSON in every file under `folder`, and of files that are one JSON document. */
export function* corpusRecords(folder: string): Generator<unknown> {
  const root = join(directory, folder)
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    const document = parsed(text)
    if (document !== undefined) yield document
    else for (const line of text.split('\n')) yield parsed(line)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Some lines are damaged; what damage means is for the readers of those formats.
    return undefined
  }
}

/** Every object with a role and content, or of a named type, anywhere inside a value. */
export function* messagesIn(value: unknown): Generator<{ readonly [key: string]: unknown }> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && 'role' in value && 'content' in value) yield { ...value }
  for (const child of Object.values(value)) yield* messagesIn(child)
}
