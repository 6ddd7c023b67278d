// What a user gets: each public package is packed, the tarballs are judged by publint and attw, then installed into a
// project outside the workspace, type-checked there, imported, required, and their commands run.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countedSteps, installed, installOutside, must, pack } from './packed-tarballs.mjs'

/** @typedef {import('./packed-tarballs.mjs').PackedPackage} PackedPackage */

/** @param {PackedPackage} packed */
const isLibrary = ({ exports }) => exports?.['.'] !== undefined

/** @param {PackedPackage} packed */
async function judge(packed) {
  await must('publint', ['run', packed.tarball, '--strict'])
  if (!isLibrary(packed)) return // attw judges types, and a command has none
  await must('attw', [packed.tarball, '--profile', 'esm-only', '--no-definitely-typed', '--format', 'ascii'])
}

/**
 * @param {string} directory
 * @param {readonly PackedPackage[]} packed
 */
async function installConsumer(directory, packed) {
  mkdirSync(directory, { recursive: true })
  const manifest = { name: 'consumer', private: true, ...installed(packed) }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest, null, 2))
  await installOutside(directory)
}

/**
 * @param {string} directory
 * @param {readonly PackedPackage[]} packed
 */
async function useOutside(directory, packed) {
  const names = packed.filter(isLibrary).map(({ name }) => name)
  const imports = names.map((name, index) => `import * as package${index} from '${name}'\n`).join('')
  const list = names.map((_, index) => `package${index}`).join(', ')
  const requires = names.map((name) => `require('${name}')`).join(', ')
  const show = '.map((exported) => Object.keys(exported).sort())))\n'
  writeFileSync(join(directory, 'esm.mjs'), `${imports}console.log(JSON.stringify([${list}]${show}`)
  writeFileSync(join(directory, 'cjs.cjs'), `console.log(JSON.stringify([${requires}]${show}`)
  writeFileSync(join(directory, 'types.mts'), `${imports}export const all: readonly object[] = [${list}]\n`)

  const quiet = '--disable-warning=ExperimentalWarning' // Node 20 warns when require() loads an ESM package
  const imported = await must(process.execPath, ['esm.mjs'], { cwd: directory })
  const required = await must(process.execPath, [quiet, 'cjs.cjs'], { cwd: directory })
  if (imported !== required) throw new Error(`import and require differ:\n${imported}\n${required}`)

  const strict = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--target',
    'es2023',
    '--lib',
    'es2023,esnext.disposable',
  ]
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const args = [
      ...strict,
      '--module',
      module ?? '',
      '--moduleResolution',
      resolution ?? '',
      '--types',
      'node',
      'types.mts',
    ]
    await must('tsc', args, { cwd: directory })
  }

  for (const command of packed.flatMap(({ bin }) => Object.keys(bin ?? {}))) {
    await must(join(directory, 'node_modules', '.bin', command), ['--help'], { cwd: directory })
  }
  await benchOutside(directory)
}

/**
 * What the command line loads only when it is asked for, down to the processes that it starts.
 *
 * @param {string} directory
 */
async function benchOutside(directory) {
  const command = join(directory, 'node_modules', '.bin', 'session-persistence')
  const make = `import { openJsonl } from 'session-persistence'
const persistence = await openJsonl({ root: 'sessions' })
const session = await persistence.create({ id: 'outside' })
session.append('session/title', { title: 'Outside' })
await session.close()
await persistence.close()
`
  writeFileSync(join(directory, 'make.mjs'), make)
  await must(process.execPath, ['make.mjs'], { cwd: directory })
  await must(command, ['export', 'outside', '--root', 'sessions', '--output', 'log.jsonl'], { cwd: directory })
  const given = ['bench', 'log.jsonl', '--quick', '--backend', 'jsonl', '--scenario', 'memory', '--json']
  const { partial, rows } = JSON.parse(await must(command, given, { cwd: directory }))
  const measured = rows.map((/** @type {{ id: string }} */ { id }) => id)
  for (const id of ['memory/stream', 'logs-1/replay']) {
    if (partial || !measured.includes(id)) throw new Error(`the packed bench did not measure ${id}`)
  }
}

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function packedPackages() {
  const directory = mkdtempSync(join(tmpdir(), 'session-persistence-packed-'))
  const { result, count } = countedSteps()
  try {
    const packed = await pack(directory)
    const consumer = join(directory, 'consumer')
    await Promise.all(packed.map((one) => count(judge(one))))
    await count(installConsumer(consumer, packed).then(() => useOutside(consumer, packed)))
    return result
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
