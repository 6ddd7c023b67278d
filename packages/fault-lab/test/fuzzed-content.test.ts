// Proves that behind the checksum, too, no content makes a reader fail without a type; and that a reader that skips it
// is seen.
import { jsonlStorage } from '@session-persistence/jsonl'
import { expect, it } from 'vitest'
import {
  CostMeter,
  damagedLog,
  type FileBackend,
  flipEverywhere,
  JSONL,
  LogFuzzer,
  logOf,
  mutate,
  Random,
  report,
  SCALE,
  SEED,
  sampleBatches,
  share,
} from '../src/index.ts'

/** Its logs have no checksums, so that every change reaches the code behind them. */
const UNGUARDED: FileBackend = {
  ...JSONL,
  name: 'jsonl (unguarded)',
  open: (fileSystem, root) => jsonlStorage({ root, fileSystem, checksum: 'none' }),
}

it('content that no checksum guards', { timeout: 600_000 * (1 + SCALE) }, async () => {
  const random = new Random(SEED)
  const fuzzer = new LogFuzzer(UNGUARDED)
  const mutations = share(100_000)
  const cost = new CostMeter()
  let log: Buffer = Buffer.alloc(0)
  for (let run = 0; run < mutations; run++) {
    if (run % 1000 === 0) log = await logOf(UNGUARDED, sampleBatches(random, 4, 4, 30))
    const changed = mutate(log, random)
    const problem = (await fuzzer.tryUnguarded(changed)) ?? cost.next()
    if (problem !== undefined) expect.fail(`run ${run}: ${problem}\n${changed.toString('base64')}`)
  }
  report('fuzzed content, behind the checksum: jsonl', { mutations, violations: 0 })
})

it('sees a reader that skips the checksum', async () => {
  const random = new Random(SEED)
  const batches = sampleBatches(random, 5, 4, 60)
  const log = await logOf(UNGUARDED, batches)
  const fuzzer = new LogFuzzer(UNGUARDED)
  let caught = 0
  for (let run = 0; run < 300; run++) {
    if ((await fuzzer.try(mutate(log, random), batches.flat())) !== undefined) caught++
  }
  expect(caught).toBeGreaterThan(0)
  report('seeded bugs: skip the checksum', { caught: 1 })
})

it('sees flips where nothing is checked', { timeout: 120_000 }, async () => {
  const { violations } = await flipEverywhere(await damagedLog(UNGUARDED, 2000, SEED))
  expect(violations.length).toBeGreaterThan(0)
})
