/** Tier *io* for whatever backend: the kernel lets calls of real processes fail. */
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { drawnImages, durableImage, visibleImage } from '../crash/crash-images.ts'
import type { DiskImage } from '../crash/disk-image.ts'
import { Random } from '../crash/random.ts'
import { moments } from '../crash/recording.ts'
import { Violation } from '../expectation.ts'
import type { WorkerStep } from '../worker-process.ts'
import { faultCase } from './fault-clauses.ts'
import { continueIn, goOn, KEPT, lookFor, PASSING, STORE } from './fault-workload.ts'
import { PromiseLedger, type Promises } from './promises.ts'
import { type RecordedRun, recordRun, replayRun, type Start } from './recorded-run.ts'
import { recoveryStart } from './recovery-start.ts'
import { type StruckPlace, SYNCS, strike, struckPlaces } from './struck-calls.ts'
import { TracedMedium, type TracedRun } from './traced-medium.ts'

/** In turn over the places, from another one on for every seed: a run of all with each takes a database an hour. */
const ERRORS = ['EIO', 'ENOSPC', 'EIO', 'EDQUOT', 'EIO', 'EMFILE'] as const
/** Every so many places one is struck. */
const STRIDE = { quick: 9, full: 1 } as const
/** Starts of a recovery: what a killed process left, and what a power cut did. */
const CUT_STARTS = { quick: 1, full: 2 } as const

interface Strike {
  readonly place: StruckPlace
  readonly error: string
}

/** Every place with one error; in a quick run a sample of them. */
function* strikes({ effort, random }: CaseContext, places: readonly StruckPlace[]): Generator<Strike, void, undefined> {
  const stride = STRIDE[effort]
  const turn = Math.floor(random() * ERRORS.length)
  for (let at = Math.floor(random() * Math.min(stride, places.length)); at < places.length; at += stride) {
    const [place, error] = [places[at], ERRORS[(Math.floor(at / stride) + turn) % ERRORS.length]]
    if (place !== undefined && error !== undefined) yield { place, error }
  }
}

function nothingStored(medium: TracedMedium): Start {
  return { image: medium.image(), promises: new Map(), seed: 1 }
}

/** What is said under a failing disk has a type, never that a session is missing or damaged, and ends by itself. */
function requireHonest({ lines }: TracedRun, words: string): void {
  for (const line of lines) {
    if (line.kind !== 'failed' && line.kind !== 'refusal') continue
    if (line.code === undefined) throw new Violation(`an error without a type ${words}: ${line.message}`)
    if (line.code !== 'NOT_FOUND' && line.code !== 'CORRUPT') continue
    throw new Violation(`${line.code} was reported ${words}: ${line.message}`)
  }
  if (lines.at(-1)?.kind !== 'over') throw new Violation(`the process ended without a word ${words}`)
}

function requireFlushed({ lines }: TracedRun, steps: readonly WorkerStep[], words: string): void {
  const failed = lines.find(({ kind }) => kind === 'failed')
  const begun = lines.findLast((line) => line.kind === 'begin')
  if (failed?.kind !== 'failed' || begun?.kind !== 'begin' || steps[begun.step]?.do !== 'flush') return
  throw new Violation(`a flush that was tried again and again never succeeded ${words}, once: ${failed.code}`)
}

function promisesOf({ lines }: TracedRun, steps: readonly WorkerStep[], { promises }: Start): Promises {
  const ledger = new PromiseLedger(steps, promises)
  for (const line of lines) ledger.hear(line)
  return ledger.promises
}

interface Attempt {
  readonly steps: readonly WorkerStep[]
  readonly start: Start
  readonly isLasting: boolean
  /** Sessions that the promises are about. */
  readonly ids: readonly string[]
}

/** Strikes everywhere, and looks at what is left when the disk is well again. */
async function strikeEverywhere(context: CaseContext, medium: TracedMedium, attempt: Attempt): Promise<void> {
  const { steps, start, isLasting, ids } = attempt
  const places = await struckPlaces(context, medium, steps, start)
  for (const { place, error } of strikes(context, places)) {
    const { struck, words } = strike(place, error, isLasting)
    medium.restore(start.image)
    const run = await medium.run(steps, { seed: start.seed, struck, strings: false, calls: [place.call], when: words })
    // A busy machine may make its calls in another order: what was not struck was not tried.
    if (!run.trace.includes('(INJECTED)')) continue
    context.tried('failing calls', 1)
    requireHonest(run, words)
    if (!isLasting) requireFlushed(run, steps, words)
    const problem = (await lookFor(context, promisesOf(run, steps, start), ids)) ?? (await continueIn(context, KEPT))
    if (problem !== undefined) throw new Violation(`${words}, and the disk was well again: ${problem}`)
  }
}

interface Left {
  readonly image: DiskImage
  readonly promises: Promises
  readonly when: string
}

/** What a process finds that resumes: left by one that was killed when it was nearly done, and by power cuts. */
function leftBehind(context: CaseContext, run: RecordedRun): readonly Left[] {
  const random = new Random(Math.floor(context.random() * 2 ** 32))
  let killed: Left | undefined
  const cut: Left[] = []
  for (const { at, disk, expected } of moments(run.operations, run.start.promises, run.start.image)) {
    if (expected.get(KEPT)?.presence !== 'present') continue
    const left = (image: DiskImage, what: string): Left => {
      return { image: image.without(run.vanishes), promises: expected, when: `after ${what} at operation ${at}` }
    }
    killed = left(visibleImage(disk), 'SIGKILL')
    cut.push(left(random.pick(drawnImages(disk, { random, step: 97 }, 4))(), 'a power cut'))
  }
  const drawn = Array.from({ length: CUT_STARTS[context.effort] }, () => random.pick(cut))
  return killed === undefined ? [] : [killed, ...drawn]
}

async function tryIo3(context: CaseContext, medium: TracedMedium): Promise<void> {
  const run = await recordRun(context, medium, STORE, nothingStored(medium))
  for (const left of leftBehind(context, run)) {
    const start = await recoveryStart(context, medium, left)
    await strikeEverywhere(context, medium, { steps: goOn('resume'), start, isLasting: false, ids: [KEPT] })
  }
}

/** Every sync fails once, and the power is cut wherever something was promised afterwards. */
async function tryIo4(context: CaseContext, medium: TracedMedium): Promise<void> {
  const start = nothingStored(medium)
  const places = await struckPlaces(context, medium, STORE, start)
  for (const place of places.filter(({ call }) => SYNCS.has(call))) {
    const { struck, words } = strike(place, 'EIO', false)
    medium.restore(start.image)
    const run = await medium.run(STORE, { seed: start.seed, struck, when: words })
    if (!run.trace.includes('(INJECTED)')) continue
    context.tried('failing syncs', 1)
    const { operations } = replayRun(medium, STORE, start, run)
    let known = ''
    for (const { at, disk, expected } of moments(operations, start.promises, start.image)) {
      const image = durableImage(disk)
      if (operations[at - 1]?.kind !== 'mark' || image.key === known) continue
      known = image.key
      medium.restore(image)
      const problem = await lookFor(context, expected)
      if (problem !== undefined) throw new Violation(`${words}, once, and the power was cut later: ${problem}`)
      context.tried('power cuts', 1)
    }
  }
}

async function tryStoring(context: CaseContext, medium: TracedMedium, isLasting: boolean): Promise<void> {
  const start = nothingStored(medium)
  await strikeEverywhere(context, medium, { steps: STORE, start, isLasting, ids: [KEPT, PASSING] })
}

export const IO_CASES: readonly ConformanceCase[] = [
  faultCase('IO-1', (context) => TracedMedium.use(context, (medium) => tryStoring(context, medium, false))),
  faultCase('IO-2', (context) => TracedMedium.use(context, (medium) => tryStoring(context, medium, true))),
  faultCase('IO-3', (context) => TracedMedium.use(context, (medium) => tryIo3(context, medium))),
  faultCase('IO-4', (context) => TracedMedium.use(context, (medium) => tryIo4(context, medium))),
]
