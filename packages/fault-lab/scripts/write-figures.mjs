// `npm run figures`: runs the fault laboratory and writes what it did into docs/reliability.md. `--from DIRECTORY` takes
// the evidence of a run that was made with SESSION_PERSISTENCE_EVIDENCE=DIRECTORY. `--check` writes nothing: it prints
// the table, and ends with code 1 when a whole run left a row of it unreached.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isWhole, scaleOf, TARGETS, verdictOf } from '../dist/index.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const document = join(root, 'docs', 'reliability.md')
const { values } = parseArgs({ options: { from: { type: 'string' }, check: { type: 'boolean', default: false } } })
const directory = values.from ?? mkdtempSync(join(tmpdir(), 'fault-lab-evidence-'))

if (values.from === undefined) {
  const env = { ...process.env, SESSION_PERSISTENCE_EVIDENCE: directory }
  const { status } = spawnSync('npx', ['vitest', 'run', 'packages/fault-lab/'], { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** @type {import('../dist/index.js').SuiteEvidence[]} */
const run = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')))
run.sort((a, b) => (a.suite < b.suite ? -1 : 1))

/** @param {readonly string[]} cells */
const row = (cells) => `| ${cells.join(' | ')} |`

const verdicts = TARGETS.map((target) => ({ target, ...verdictOf(target, run) }))
/** A run at a smaller scale does not try to reach what it does not reach. */
const missing = isWhole(run) ? 'not reached' : 'in part'
const table = [
  `Scale ${scaleOf(run)}, seed ${[...new Set(run.map(({ seed }) => seed))].join(', ')}.`,
  '',
  row(['row', 'to reach', 'tried', 'violations', 'verdict']),
  row(['---', '---', '---', '---', '---']),
  ...verdicts.map(({ target, tried, violations, verdict }) =>
    row([target.row, target.figure, tried.join('; '), String(violations), verdict.replace('not reached', missing)]),
  ),
]
const details = [
  '',
  row(['suite', 'tried', 'violations']),
  row(['---', '---', '---']),
  ...run.map(({ suite, figures: { violations = 0, ...counts } }) => {
    const done = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    return row([suite, done.join(', '), String(violations)])
  }),
]

if (values.check) {
  console.log(table.join('\n'))
  const missed = verdicts.filter(({ verdict, violations }) => violations > 0 || verdict === 'not reached')
  if (isWhole(run) && missed.length > 0) process.exitCode = 1
} else {
  const text = [...table, ...details].join('\n')
  const before = readFileSync(document, 'utf8')
  const pattern = /(<!-- figures -->)[\s\S]*?(<!-- \/figures -->)/
  writeFileSync(
    document,
    before.replace(pattern, (_, start, end) => `${start}\n${text}\n${end}`),
  )
}
