/** Plays a scenario and cuts the power after every operation, in every way; and again while a machine recovers from that. */
import {
  type Disk,
  type DiskImage,
  describeOperation,
  drawnImages,
  moments,
  type Operation,
  Random,
  Recording,
} from '@session-persistence/conformance/crash-states'
import { ModelFileSystem } from '../model/model-file-system.ts'
import type { Evidence } from './evidence.ts'
import type { Expectation } from './expectation.ts'
import type { FileBackend } from './file-backend.ts'
import { recoverAndContinue } from './recover-and-continue.ts'
import type { Scenario } from './scenario.ts'
import { sessionsIn } from './sessions-directory.ts'
import { Stage, type Weakness } from './stage.ts'
import { newMount, verifyImage } from './verify-image.ts'

export interface Campaign {
  readonly backend: FileBackend
  readonly scenario: Scenario
  readonly seed: number
  readonly evidence: Evidence
  readonly weaken?: Weakness
  /** Crash states tried after one operation, drawn at random where there are more; default all. */
  readonly perOperationMax?: number
}

const coarse = (path: string): boolean => path.includes('/.locks/')

/** One in so many crash states is recovered from under a second power cut at every operation. */
const SECOND_CUT_EVERY = 499

/** One in so many is also resumed and continued, which costs four times as much as reading it. */
const RESUME_EVERY = 4

/** A scenario that fails on a well disk is a violation, too. */
async function playScenario({ backend, scenario, seed, evidence, weaken }: Campaign): Promise<Stage> {
  const stage = new Stage(backend, new Random(seed), {
    ...(weaken === undefined ? {} : { weaken }),
    ...(scenario.id === undefined ? {} : { id: scenario.id }),
  })
  try {
    await scenario.run(stage)
  } catch (error) {
    evidence.violations.push({
      scenario: scenario.name,
      seed,
      after: stage.recording.operations.length,
      operation: 'no crash at all',
      problem: String(error),
    })
  }
  return stage
}

/** The power is cut after every operation. */
export async function cutPower(campaign: Campaign): Promise<void> {
  const { seed } = campaign
  const stage = await playScenario(campaign)
  const random = new Random(seed ^ 0x5eed)
  await sweep(campaign, stage.recording.operations, { initially: stage.initially, random }, async (image, expected) => {
    if (random.below(SECOND_CUT_EVERY) !== 0 || expected.damaged === true) return
    const recording = new Recording<Expectation>()
    await recover(campaign, image.toDisk(), recording, expected)
    const start = { initially: expected, random, start: image, perOperationMax: 30 }
    await sweep(campaign, recording.operations, start, async () => {})
  })
}

/**
 * The process alone is killed after every operation. Another one recovers on the same page cache, of which no more
 * than before is durable, and the power is cut after every operation of that.
 */
export async function killEverywhere(campaign: Campaign): Promise<number> {
  const { evidence, seed } = campaign
  const { recording, initially } = await playScenario(campaign)
  const random = new Random(seed ^ 0xdead)
  let kills = 0
  for (const { at, expected } of moments(recording.operations, initially)) {
    if (evidence.enough) break
    if (recording.operations[at - 1]?.kind === 'mark' || expected.damaged === true) continue
    const after = new Recording<Expectation>()
    const before = recording.operations.slice(0, at)
    await recover(campaign, diskAfter(before, initially), after, expected, at)
    const all = [...before, ...after.operations]
    await sweep(
      campaign,
      all,
      { initially, random, from: at, perOperationMax: campaign.perOperationMax ?? 20 },
      async () => {},
    )
    kills++
  }
  return kills
}

function diskAfter(operations: readonly Operation<Expectation>[], initially: Expectation): Disk {
  let found: Disk | undefined
  for (const { disk } of moments(operations, initially)) found = disk
  if (found === undefined) throw new Error('a recording has at least one moment')
  return found
}

/** Recovers and continues in a new process, recording what it does. */
async function recover(
  { backend, scenario, seed, evidence, weaken = (it) => it }: Campaign,
  disk: Disk,
  recording: Recording<Expectation>,
  expected: Expectation,
  after = 0,
): Promise<void> {
  const mount = newMount()
  const fileSystem = new ModelFileSystem({ mount, disk, record: (operation) => recording.add(operation) })
  const problem = await recoverAndContinue(backend.open(weaken(fileSystem), sessionsIn(mount)), expected, (next) =>
    recording.mark(next),
  )
  if (problem === undefined) return
  evidence.violations.push({ scenario: scenario.name, seed, after, operation: 'recovery by another process', problem })
}

interface SweepOptions {
  readonly initially: Expectation
  readonly random: Random
  readonly start?: DiskImage
  /** First operation after which the power is cut. */
  readonly from?: number
  readonly perOperationMax?: number
}

async function sweep(
  { backend, scenario, seed, evidence, perOperationMax: most = Number.POSITIVE_INFINITY }: Campaign,
  operations: readonly Operation<Expectation>[],
  { initially, random, start, from = 0, perOperationMax = most }: SweepOptions,
  also: (image: DiskImage, expected: Expectation) => Promise<void>,
): Promise<void> {
  for (const { at, disk, expected } of moments(operations, initially, start)) {
    if (at < from) continue
    const step = Number.isFinite(perOperationMax) ? 5 + random.below(30) : 1
    for (const make of drawnImages(disk, { random, coarse, step }, perOperationMax)) {
      if (evidence.enough) return
      const image = make()
      if (!evidence.isNew(image, expected)) continue
      const problem = await verifyImage(backend, image, expected, { thorough: random.below(RESUME_EVERY) === 0 })
      if (problem === undefined) {
        await also(image, expected)
        continue
      }
      const operation = describeOperation(operations[at - 1])
      evidence.violations.push({ scenario: scenario.name, seed, after: at, operation, problem })
    }
  }
}
