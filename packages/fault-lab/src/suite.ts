/** What every suite shares: how much to do, from which seed, and how to say what was done. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Multiplies the work; 1 by default, 5 in CI. */
export const SCALE: number = Math.max(0.1, Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? '1') || 1)

/** The same seed repeats a run. */
export const SEED: number = Number(process.env.SESSION_PERSISTENCE_TEST_SEED ?? '1') || 1

export interface SuiteFigures {
  /** Whole numbers by what they count: `crash states`. */
  readonly [what: string]: number
}

/** Prints one line of evidence, and keeps it where `SESSION_PERSISTENCE_EVIDENCE` names a directory. */
export function report(suite: string, figures: SuiteFigures): void {
  const counts = Object.entries(figures).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
  process.stdout.write(`evidence: ${suite}: ${counts.join(', ')}, seed ${SEED}\n`)
  const directory = process.env.SESSION_PERSISTENCE_EVIDENCE
  if (directory === undefined || directory === '') return
  mkdirSync(directory, { recursive: true })
  const file = `${suite.replace(/[^a-z0-9]+/gi, '-')}.json`
  writeFileSync(join(directory, file), `${JSON.stringify({ suite, seed: SEED, scale: SCALE, figures })}\n`)
}
