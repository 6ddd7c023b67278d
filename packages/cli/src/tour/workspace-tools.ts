/** The tools of the tour's agent: they read the real files of the workspace, and one of them writes a real file. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Tool } from './agent-loop.ts'

const skipped = new Set(['node_modules', 'dist', 'coverage'])

async function* sourceFiles(directory: string): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || skipped.has(entry.name)) continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* sourceFiles(path)
    else if (entry.isFile() && entry.name.endsWith('.ts')) yield path
  }
}

function textOf(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = input[name]
  if (typeof value !== 'string') throw new Error(`${name} must be text`)
  return value
}

/** Refuses to leave `root`: the input is a model's. */
function inside(root: string, path: string): string {
  const absolute = resolve(root, path)
  if (absolute !== root && !absolute.startsWith(root + sep)) throw new Error('outside of the workspace')
  return absolute
}

/** @param reports an existing directory */
export function workspaceTools(root: string, reports: string): { readonly [name: string]: Tool } {
  return {
    list_files: {
      description: 'The folders that hold TypeScript files, with how many',
      effect: 'read-only',
      async run() {
        const folders = new Map<string, number>()
        for await (const file of sourceFiles(root)) {
          const [top = '', second = ''] = relative(root, file).split(sep)
          const folder = top === 'packages' ? `${top}/${second}` : top
          folders.set(folder, (folders.get(folder) ?? 0) + 1)
        }
        return [...folders].map(([folder, files]) => `${folder}: ${files} files`).join('\n')
      },
    },
    count_lines: {
      description: 'How many lines all TypeScript files have together',
      effect: 'read-only',
      async run() {
        let files = 0
        let lines = 0
        for await (const file of sourceFiles(root)) {
          files += 1
          lines += (await readFile(file, 'utf8')).split('\n').length - 1
        }
        return `${files} files, ${lines} lines`
      },
    },
    search: {
      description: 'The files that hold a text',
      effect: 'read-only',
      async run(input) {
        const text = textOf(input, 'text')
        const found: string[] = []
        for await (const file of sourceFiles(root)) {
          if ((await readFile(file, 'utf8')).includes(text)) found.push(relative(root, file))
        }
        return found.length === 0 ? 'not found' : found.join('\n')
      },
    },
    read_file: {
      description: 'The first lines of a file',
      effect: 'read-only',
      async run(input) {
        const content = await readFile(inside(root, textOf(input, 'file')), 'utf8')
        return content.split('\n').slice(0, 12).join('\n')
      },
    },
    write_report: {
      description: 'Writes a report; twice would make two of it',
      effect: 'side-effect',
      async run(input) {
        const file = join(reports, 'report.txt')
        await writeFile(file, `${textOf(input, 'text')}\n`, { flag: 'a' })
        return 'written'
      },
    },
    read_report: {
      description: 'The report as it stands',
      effect: 'read-only',
      async run() {
        return readFile(join(reports, 'report.txt'), 'utf8').catch(() => 'there is no report')
      },
    },
  }
}
