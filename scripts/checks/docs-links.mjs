// Every relative link in a Markdown file leads to a file of this repository, and every anchor to a heading in it.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { markdownFiles, withoutCode } from '../markdown.mjs'
import { root } from '../workspace.mjs'

const link = /!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g

/**
 * A heading's anchor, as the code hosts make it.
 *
 * @param {string} heading
 */
function anchorOf(heading) {
  const plain = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
  return plain.replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-')
}

/** @param {string} file */
function anchorsIn(file) {
  const anchors = new Set()
  /** @type {Map<string, number>} */
  const seen = new Map()
  for (const match of withoutCode(readFileSync(file, 'utf8'), { keepSpans: true }).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const anchor = anchorOf(match[1] ?? '')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`)
  }
  return anchors
}

/**
 * @param {string} file
 * @param {string} target
 * @returns {string | undefined} what is wrong with the link
 */
function problemWith(file, target) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined // another host's: nothing here can check it
  const [path = '', anchor] = target.split('#')
  const destination = path === '' ? file : resolve(dirname(file), decodeURI(path))
  if (relative(root, destination).startsWith('..')) return 'leads out of the repository'
  if (!existsSync(destination)) return 'no such file'
  if (anchor === undefined || !destination.endsWith('.md') || statSync(destination).isDirectory()) return undefined
  return anchorsIn(destination).has(anchor) ? undefined : 'no such heading'
}

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function docsLinks() {
  const problems = []
  for (const file of await markdownFiles()) {
    for (const [, target = ''] of withoutCode(readFileSync(join(root, file), 'utf8')).matchAll(link)) {
      const problem = problemWith(join(root, file), target)
      if (problem !== undefined) problems.push(`${file}: ${target}: ${problem}`)
    }
  }
  const failed = Number(problems.length > 0)
  return { passed: 1 - failed, failed, skipped: 0, output: problems.join('\n') }
}
