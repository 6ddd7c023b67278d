// Every TypeScript block in the documentation whose fence reads "ts runnable" is type-checked and then run, each in an
// empty directory. A block that only shows a fragment has a plain "ts" fence.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeBlocks, markdownFiles } from '../markdown.mjs'
import { runCommand } from '../run-command.mjs'
import { root } from '../workspace.mjs'

// Inside docs/, whose manifest lists what examples may import.
const generated = join(root, 'docs', '.generated')

const tsconfig = {
  extends: '../../tsconfig.base.json',
  compilerOptions: {
    composite: false,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    // Readers paste these into their own files, in which an unused variable is no mistake.
    noUnusedLocals: false,
    // Examples use the built packages, as their readers do.
    customConditions: [],
    rootDir: '.',
    outDir: 'built',
  },
  include: ['*.ts'],
}

async function collectExamples() {
  const examples = []
  for (const file of await markdownFiles()) {
    const runnable = codeBlocks(readFileSync(join(root, file), 'utf8')).filter(({ info }) => info === 'ts runnable')
    for (const { code, line } of runnable) {
      examples.push({ name: `${file.replace(/\.md$/, '').replaceAll(/[^A-Za-z0-9]+/g, '-')}-line-${line}`, code })
    }
  }
  return examples
}

/** @param {string} script */
async function runInEmptyDirectory(script) {
  const cwd = mkdtempSync(join(tmpdir(), 'session-persistence-example-'))
  try {
    return await runCommand(process.execPath, [script], { cwd })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function docsExamples() {
  const examples = await collectExamples()
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(generated, { recursive: true })
  writeFileSync(join(generated, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const { name, code } of examples) writeFileSync(join(generated, `${name}.ts`), `${code}export {}\n`)
  if (examples.length === 0) return { passed: 0, failed: 0, skipped: 1, output: 'no runnable example in the docs yet' }

  const compiled = await runCommand('tsc', ['-p', generated])
  if (!compiled.ok) return { passed: 0, failed: 1, skipped: 0, output: compiled.output }
  let output = ''
  let failed = 0
  for (const { name } of examples) {
    const run = await runInEmptyDirectory(join(generated, 'built', `${name}.js`))
    if (run.ok) continue
    failed += 1
    output += `${name}:\n${run.output}\n`
  }
  return { passed: examples.length - failed, failed, skipped: 0, output }
}
