/** Cuts the power after every operation of a trace, with a verifier of its own. */
import {
  type DiskImage,
  describeOperation,
  drawnImages,
  moments,
  type Operation,
  type Random,
} from '@session-persistence/conformance/crash-states'
import type { Evidence } from '../scenario/evidence.ts'
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
    for (const make of drawnImages(disk, options, perOperationMax)) {
      if (evidence.enough) return
      const image = cut.vanishing === undefined ? make() : make().without(cut.vanishing)
      if (!evidence.isNew(image, expected)) continue
      const problem = await cut.verify(image, expected)
      if (problem === undefined) continue
      const operation = describeOperation(operations[at - 1])
      evidence.violations.push({ scenario: cut.name, seed: random.seed, after: at, operation, problem })
    }
  }
}
