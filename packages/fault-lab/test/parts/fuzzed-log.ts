/** The fuzzing of one reader of logs. */
import type { AnySessionEvent } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import {
  CostMeter,
  type FileBackend,
  LogFuzzer,
  logOf,
  mutate,
  Random,
  report,
  SCALE,
  SEED,
  sampleBatches,
  share,
  WHOLE,
} from '../../src/index.ts'

/** Mutations of one log before another one is made. */
const EACH_LOG = 1000

interface Mutations {
  readonly backend: FileBackend
  readonly count: number
  readonly newBatches: (random: Random) => AnySessionEvent[][]
  /** Undefined where the changed log was refused, or read as what was stored. */
  readonly verdict: (
    fuzzer: LogFuzzer,
    changed: Buffer,
    stored: readonly AnySessionEvent[],
  ) => Promise<string | undefined>
}

/** Fails at the first mutation that is neither, or costs too much; resolves with what all of them cost. */
export async function tryMutations({ backend, count, newBatches, verdict }: Mutations): Promise<CostMeter> {
  const random = new Random(SEED)
  const fuzzer = new LogFuzzer(backend)
  const cost = new CostMeter()
  let log: Buffer = Buffer.alloc(0)
  let events: readonly AnySessionEvent[] = []
  for (let run = 0; run < count; run++) {
    if (run % EACH_LOG === 0) {
      const batches = newBatches(random)
      log = await logOf(backend, batches)
      events = batches.flat()
    }
    const changed = mutate(log, random)
    const problem = (await verdict(fuzzer, changed, events)) ?? cost.next()
    if (problem !== undefined) expect.fail(`run ${run}: ${problem}\n${changed.toString('base64')}`)
  }
  return cost
}

export function fuzzedLogs(backend: FileBackend): void {
  describe(`${backend.name}, changed at random`, { timeout: 600_000 * (1 + SCALE) }, () => {
    it('is refused, or reads as what was stored', async () => {
      const mutations = share(WHOLE.mutations)
      const cost = await tryMutations({
        backend,
        count: mutations,
        newBatches: (random) => sampleBatches(random, 1 + random.below(6), 4, random.pick([5, 30, 80])),
        verdict: (fuzzer, changed, stored) => fuzzer.try(changed, stored),
      })
      report(`fuzzed logs: ${backend.name}`, { mutations, 'ms of work at most': cost.longestMs, violations: 0 })
      expect(cost.growth()).toBeUndefined()
    })
  })
}
