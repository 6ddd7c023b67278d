// Proves that behind the checksum, too, no content makes a reader fail without a type; and that a reader that skips it
// is seen.
import { jsonlStorage } from '@session-persistence/jsonl'
import { expect, it } from 'vitest'
import {
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
import { tryMutations } from './parts/fuzzed-log.ts'

/** Its logs have no checksums, so that every change reaches the code behind them. */
const UNGUARDED: FileBackend = {
  ...JSONL,
  name: 'jsonl (unguarded)',
  open: (fileSystem, root) => jsonlStorage({ root, fileSystem, checksum: 'none' }),
}

it('content that no checksum guards', { timeout: 600_000 * (1 + SCALE) }, async () => {
  const mutations = share(100_000)
  await tryMutations({
    backend: UNGUARDED,
    count: mutations,
    newBatches: (random) => sampleBatches(random, 4, 4, 30),
    verdict: (fuzzer, changed) => fuzzer.tryUnguarded(changed),
  })
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
