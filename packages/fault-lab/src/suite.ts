/** What every suite shares: how much to do, from which seed, and how to say what was done. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Multiplies the work; 1 by default, {@link WHOLE_SCALE} in CI. */
export const SCALE: number = Math.max(0.01, Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? '1') || 1)

/** The scale from which on every figure of `TARGETS` is reached: what CI runs at. */
export const WHOLE_SCALE = 5

/** Of the whole: a twentieth at scale 1, all at {@link WHOLE_SCALE}, ten times as much at ten times that. */
const FRACTION = SCALE < WHOLE_SCALE ? SCALE / 20 : SCALE / WHOLE_SCALE

/** The same seed repeats a run. */
export const SEED: number = Number(process.env.SESSION_PERSISTENCE_TEST_SEED ?? '1') || 1

/** How many of `whole`, which is the figure to be reached, are tried at this scale. */
export function share(whole: number): number {
  return Math.max(1, Math.ceil(whole * FRACTION))
}

/** Whether what is exhaustive is tried wholly. */
export const IS_WHOLE: boolean = FRACTION >= 1

/** Seeds with which what is exhaustive is tried: more than one above the whole scale. */
export const SEEDS: readonly number[] = Array.from({ length: Math.max(1, Math.floor(FRACTION)) }, (_, at) => SEED + at)

/** Of `count` places where something is tried: all at the whole scale, else evenly spread ones, others for every seed. */
export function* places(count: number): Generator<number, void, undefined> {
  const stride = Math.max(1, Math.floor(1 / FRACTION))
  for (let at = SEED % Math.min(stride, Math.max(1, count)); at < count; at += stride) yield at
}

export interface SuiteFigures {
  /** Whole numbers by what they count: `crash states`. */
  readonly [what: string]: number
}

export interface SuiteEvidence {
  /** `power cuts, modelled: jsonl`: what was done, and on what. */
  readonly suite: string
  readonly seed: number
  readonly scale: number
  readonly figures: SuiteFigures
}

/** Prints one line of evidence, and keeps it where `SESSION_PERSISTENCE_EVIDENCE` names a directory. */
export function report(suite: string, figures: SuiteFigures): void {
  const counts = Object.entries(figures).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
  process.stdout.write(`evidence: ${suite}: ${counts.join(', ')}, seed ${SEED}\n`)
  const directory = process.env.SESSION_PERSISTENCE_EVIDENCE
  if (directory === undefined || directory === '') return
  mkdirSync(directory, { recursive: true })
  const file = `${suite.replace(/[^a-z0-9]+/gi, '-')}.json`
  const evidence: SuiteEvidence = { suite, seed: SEED, scale: SCALE, figures }
  writeFileSync(join(directory, file), `${JSON.stringify(evidence)}\n`)
}
