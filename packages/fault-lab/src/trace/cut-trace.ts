/** Cuts the power after every operation of a trace, with a verifier of its own. */
import { crashImages, durableImage, type EnumerationOptions } from '../model/crash-images.ts'
import type { Disk } from '../model/disk.ts'
import type { DiskImage } from '../model/disk-image.ts'
import type { Operation } from '../model/operation.ts'
import type { Random } from '../model/random.ts'
import { moments } from '../model/recording.ts'
import { describeOperation, type Evidence } from '../scenario/evidence.ts'
import type { Expectation } from '../scenario/expectation.ts'

export interface TraceCut {
  readonly name: string
  readonly operations: readonly Operation<Expectation>[]
  readonly initially: Expectation
  readonly random: Random
  readonly evidence: Evidence
  readonly perOperationMax: number
  /** Paths whose content is nobody's: lock files. */
  readonly coarse: (path: string) => boolean
  /** Paths that no machine finds again after a power cut. */
  readonly vanishing?: (path: string) => boolean
  verify(image: DiskImage, expected: Expectation): Promise<string | undefined>
}

export async function cutTrace(cut: TraceCut): Promise<void> {
  const { operations, initially, random, evidence, perOperationMax, coarse } = cut
  for (const { at, disk, expected } of moments(operations, initially)) {
    // Large pages need no tear at every byte: an uneven step tears them everywhere in time.
    const options = { random, coarse, step: 97 + random.below(400) }
    let count = 0
    for (const _ of crashImages(disk, options)) count++
    const chosen = perOperationMax / count
    for (const found of sampled(disk, options, chosen)) {
      if (evidence.enough) return
      const image = cut.vanishing === undefined ? found : found.without(cut.vanishing)
      if (!evidence.isNew(image, expected)) continue
      const problem = await cut.verify(image, expected)
      if (problem === undefined) continue
      const operation = describeOperation(operations[at - 1])
      evidence.violations.push({ scenario: cut.name, seed: random.seed, after: at, operation, problem })
    }
  }
}

/** The state in which nothing arrived that was not synced, and a share of the others. */
function* sampled(disk: Disk, options: EnumerationOptions, share: number): Generator<DiskImage, void, undefined> {
  yield durableImage(disk)
  for (const image of crashImages(disk, options)) {
    if (share >= 1 || options.random.below(2 ** 20) < share * 2 ** 20) yield image
  }
}
