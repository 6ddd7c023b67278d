// The Markdown files of the repository, and what is code in them.
import { runCommand } from './run-command.mjs'

/**
 * Every Markdown file that is or could be committed, as paths from the root. Changelogs and pending changes are
 * written by a tool.
 */
export async function markdownFiles() {
  const { ok, output } = await runCommand('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '*.md',
  ])
  if (!ok) throw new Error(`git could not list the Markdown files: ${output}`)
  const files = new Set(output.split('\0').filter((file) => file !== ''))
  return [...files].filter((file) => !file.endsWith('CHANGELOG.md') && !file.startsWith('.changeset/')).sort()
}

/** @typedef {{ readonly info: string, readonly code: string, readonly line: number }} CodeBlock */

/**
 * Fenced blocks, with the words after the opening fence and the line of the first code line.
 *
 * @param {string} text
 * @returns {CodeBlock[]}
 */
export function codeBlocks(text) {
  const fenced = /^( *)(`{3,})([^\n`]*)\n([\s\S]*?)^\1\2 *$/gm
  return [...text.matchAll(fenced)].map((match) => ({
    info: (match[3] ?? '').trim(),
    code: match[4] ?? '',
    line: text.slice(0, match.index).split('\n').length + 1,
  }))
}

/**
 * The text without fenced blocks and, unless asked to keep them, without code spans.
 *
 * @param {string} text
 * @param {{ keepSpans?: boolean }} [options]
 */
export function withoutCode(text, { keepSpans = false } = {}) {
  const prose = text.replace(/^( *)(`{3,})[^\n`]*\n[\s\S]*?^\1\2 *$/gm, '')
  return keepSpans ? prose : prose.replace(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '')
}
