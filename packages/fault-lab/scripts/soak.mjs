// `npm run soak -- [--minutes 10] [--backend jsonl|jsonl-zstd|sqlite] [--seed 1]`: random operations and faults on each
// backend in turn, by two processes; ends with code 1 when anything is lost, untyped, or grows.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { REAL_BACKENDS, report, soak } from '../dist/index.js'

const options = { minutes: { type: 'string', default: '10' }, backend: { type: 'string' }, seed: { type: 'string' } }
const { values } = parseArgs({ options })
const backends = values.backend === undefined ? REAL_BACKENDS : [values.backend]
const ms = (Number(values.minutes) * 60_000) / backends.length

for (const backend of backends) {
  const directory = mkdtempSync(join(tmpdir(), 'fault-lab-soak-'))
  const task = { backend, directory, seed: Number(values.seed ?? 1), operations: Number.MAX_SAFE_INTEGER }
  const { early, late, violations, ...counts } = await soak({ ...task, until: Date.now() + ms })
  report(`soak: ${backend}`, { processes: 2, ...counts, violations: violations.length })
  console.log({ early, late })
  for (const problem of violations) console.error(problem)
  if (violations.length > 0) process.exitCode = 1
  else rmSync(directory, { recursive: true })
}
