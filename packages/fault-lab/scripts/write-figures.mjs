// Runs the fault laboratory and writes what it did into docs/reliability.md. `--from DIRECTORY` takes the evidence of a
// run that was made with SESSION_PERSISTENCE_EVIDENCE=DIRECTORY.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const document = join(root, 'docs', 'reliability.md')
const given = process.argv.indexOf('--from')
const directory = given > 0 ? process.argv[given + 1] : mkdtempSync(join(tmpdir(), 'fault-lab-evidence-'))

if (given < 0) {
  const env = { ...process.env, SESSION_PERSISTENCE_EVIDENCE: directory }
  const { status } = spawnSync('npx', ['vitest', 'run', 'packages/fault-lab/'], { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const found = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')))
found.sort((a, b) => (a.suite < b.suite ? -1 : 1))
const rows = found.map(({ suite, figures, seed }) => {
  const { violations = 0, missed = 0, ...counts } = figures
  const done = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
  return `| ${suite} | ${done.join(', ')} | ${violations + missed} | ${seed} |`
})
const [{ scale }] = found
const table = [
  `Scale ${scale}.`,
  '',
  '| suite | tried | violations | seed |',
  '| --- | --- | --- | --- |',
  ...rows,
].join('\n')
const before = readFileSync(document, 'utf8')
const after = before.replace(
  /(<!-- figures -->)[\s\S]*?(<!-- \/figures -->)/,
  (_, start, end) => `${start}\n${table}\n${end}`,
)
writeFileSync(document, after)
