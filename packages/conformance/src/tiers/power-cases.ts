/** Tier *power* for whatever backend: states that a power cut may leave of what a real process did, by its system calls. */
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { drawnImages } from '../crash/crash-images.ts'
import type { DiskImage } from '../crash/disk-image.ts'
import { describeOperation } from '../crash/operation.ts'
import { Random } from '../crash/random.ts'
import { moments } from '../crash/recording.ts'
import { Violation } from '../expectation.ts'
import { faultCase } from './fault-clauses.ts'
import { continueIn, goOn, KEPT, lookFor, PASSING, STORE } from './fault-workload.ts'
import type { Promises } from './promises.ts'
import { type RecordedRun, recordRun } from './recorded-run.ts'
import { recoveryStart } from './recovery-start.ts'
import { TracedMedium } from './traced-medium.ts'

/** States tried in one case, about: what takes a database a quarter of a minute. */
const STATES = { quick: 300, full: 4_000 } as const
/** States that another process goes on from, traced anew. */
const RECOVERIES = { quick: 3, full: 24 } as const

/** One state, and what had been promised when the power went. */
interface Cut {
  readonly image: DiskImage
  readonly promises: Promises
  readonly when: string
}

/** States that differ, in the order of the operations, `perOperation` after each about, where `isWanted` holds. */
function* cuts(
  run: RecordedRun,
  random: Random,
  perOperation: number,
  isWanted: (promises: Promises) => boolean = () => true,
): Generator<Cut, void, undefined> {
  const known = new Map<string, Promises>()
  for (const { at, disk, expected } of moments(run.operations, run.start.promises, run.start.image)) {
    if (!isWanted(expected)) continue
    const when = `after a power cut after operation ${at} of ${run.operations.length}, ${describeOperation(run.operations[at - 1])}`
    for (const make of drawnImages(disk, { random, step: 97 + random.below(400) }, perOperation)) {
      const image = make().without(run.vanishes)
      if (known.get(image.key) === expected) continue
      known.set(image.key, expected)
      yield { image, promises: expected, when }
    }
  }
}

async function recordedFromNothing(context: CaseContext, medium: TracedMedium): Promise<RecordedRun> {
  return await recordRun(context, medium, STORE, { image: medium.image(), promises: new Map(), seed: 1 })
}

function randomOf({ random }: CaseContext): Random {
  return new Random(Math.floor(random() * 2 ** 32))
}

function requireKept(problem: string | undefined, when: string): void {
  if (problem !== undefined) throw new Violation(`${when}: ${problem}`)
}

async function tryPower1(context: CaseContext, medium: TracedMedium): Promise<void> {
  const run = await recordedFromNothing(context, medium)
  const perOperation = Math.max(2, Math.ceil(STATES[context.effort] / run.operations.length))
  let states = 0
  for (const { image, promises, when } of cuts(run, randomOf(context), perOperation)) {
    medium.restore(image)
    // That nothing deleted comes back is a clause of its own.
    requireKept(await lookFor(context, promises, [KEPT]), when)
    if (states % 8 === 0) requireKept(await continueIn(context, KEPT), when)
    states += 1
  }
  context.tried('crash states', states)
}

async function tryPower2(context: CaseContext, medium: TracedMedium): Promise<void> {
  const random = randomOf(context)
  const all = [...cuts(await recordedFromNothing(context, medium), random, 6)]
  let states = 0
  for (let recovery = 0; recovery < RECOVERIES[context.effort]; recovery += 1) {
    const cut = random.pick(all)
    const start = await recoveryStart(context, medium, cut)
    const next = await recordRun(context, medium, goOn(start.promises.has(KEPT) ? 'resume' : 'create'), start)
    for (const second of cuts(next, random, 2)) {
      medium.restore(second.image)
      requireKept(await lookFor(context, second.promises, [KEPT]), `${cut.when}; and once more ${second.when}`)
      states += 1
    }
  }
  context.tried('recoveries', RECOVERIES[context.effort])
  context.tried('crash states', states)
}

async function tryPower3(context: CaseContext, medium: TracedMedium): Promise<void> {
  const run = await recordedFromNothing(context, medium)
  const random = randomOf(context)
  let states = 0
  const isDeleted = (promises: Promises): boolean => promises.get(PASSING)?.presence === 'absent'
  for (const { image, promises, when } of cuts(run, random, STATES[context.effort] / 50, isDeleted)) {
    medium.restore(image)
    requireKept(await lookFor(context, promises, [PASSING]), when)
    states += 1
  }
  context.tried('crash states', states)
}

export const POWER_CASES: readonly ConformanceCase[] = [
  faultCase('POWER-1', (context) => TracedMedium.use(context, (medium) => tryPower1(context, medium))),
  faultCase('POWER-2', (context) => TracedMedium.use(context, (medium) => tryPower2(context, medium))),
  faultCase('POWER-3', (context) => TracedMedium.use(context, (medium) => tryPower3(context, medium))),
]
