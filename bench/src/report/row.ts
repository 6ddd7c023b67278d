import type { BenchBackend } from '../backend/bench-backend.ts'
import { goalOf } from '../goals/goals.ts'
import { type Estimate, estimate, exactly, ratios } from '../statistics/estimate.ts'
import { type Verdict, verdictOf } from '../statistics/verdict.ts'

/** What a value is counted in. Letters are the references of the same run. */
export const UNITS = [
  '× S',
  '× W',
  '× P',
  '× R',
  '× one session',
  '× append',
  '× 1,000',
  '× power',
  '× D',
  '× JSONL',
  'share',
  'syncs',
  'calls',
  'ms',
  'bytes',
] as const

export type Unit = (typeof UNITS)[number]

/** What is measured beside the backends, for comparison. */
export interface Reference {
  readonly reference: string
  /** What it does, and what it does not promise. */
  readonly description: string
}

export const REFERENCES: { readonly [name in 'S' | 'W' | 'P' | 'R' | 'naive']: Reference } = {
  S: { reference: 'bare S', description: 'write + fdatasync of ready bytes: no lock, no checks, no recovery' },
  W: {
    reference: 'bare W',
    description: 'stringify, join, one write + fdatasync a batch: no lock, no checks, no recovery',
  },
  P: {
    reference: 'bare P',
    description: 'readFile + one JSON.parse of the whole log: no checks, memory grows with the log',
  },
  R: { reference: 'bare R', description: 'readdir of as many directories: names only' },
  naive: {
    reference: 'naive',
    description: 'a line an event, no lock, no sync, no checks: a crash may lose all of it',
  },
}

/** One measured number of one backend, or of a reference beside it. */
export interface Row {
  readonly id: string
  readonly title: string
  readonly backend: string
  readonly role: 'backend' | 'reference'
  /** Where it was measured: through the whole session, or at the storage port below it. */
  readonly through: 'session' | 'port' | 'none'
  readonly unit: Unit
  readonly measured: Estimate
  readonly goal: number | undefined
  readonly verdict: Verdict
  /** The same as a person would say it, with its own unit. */
  readonly absolute?: { readonly value: Estimate; readonly unit: (typeof ABSOLUTE_UNITS)[number] }
  /** What the reference itself took, in the unit of `absolute`. */
  readonly reference?: Estimate
  /** What it does not promise, where it is something else than a backend. */
  readonly note?: string
}

export const ABSOLUTE_UNITS = ['µs', 'ms', 'MB', 'bytes/event', 'bytes', 'on average'] as const

interface RowFacts {
  readonly id: string
  readonly title: string
  readonly backend: BenchBackend | Reference
  readonly through: Row['through']
  readonly unit: Unit
}

/** How the absolute value of a ratio is shown: in this unit, of so many things a sample. */
interface AbsoluteForm {
  readonly unit: 'µs' | 'ms' | 'MB'
  readonly per: number
}

/** What a sample is multiplied by: samples of time are in milliseconds, those of memory in bytes. */
const FACTORS: { readonly [unit in AbsoluteForm['unit']]: number } = { µs: 1000, ms: 1, MB: 1e-6 }

/** A row whose value is a ratio to a reference of the same rounds; samples in milliseconds, or in bytes. */
export function ratioRow(
  facts: RowFacts,
  samples: readonly number[],
  reference: readonly number[],
  absolute: AbsoluteForm = { unit: 'ms', per: 1 },
): Row {
  const scale = FACTORS[absolute.unit] / absolute.per
  const scaled = (values: readonly number[]): Estimate => estimate(values.map((value) => value * scale))
  return {
    ...judged(facts, estimate(ratios(samples, reference))),
    absolute: { value: scaled(samples), unit: absolute.unit },
    reference: scaled(reference),
  }
}

/** A row whose value stands for itself. */
export function plainRow(facts: RowFacts, samples: readonly number[]): Row {
  return judged(facts, estimate(samples))
}

/**
 * A row whose value was counted again and again, as often as it happened: the median is what happens as a rule, the
 * mean includes what happens now and then.
 */
export function countedEachRow(facts: RowFacts, values: readonly number[]): Row {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { ...judged(facts, estimate(values)), absolute: { value: exactly(mean), unit: 'on average' } }
}

/** A row whose value was counted. */
export function countedRow(facts: RowFacts, value: number): Row {
  return judged(facts, exactly(value))
}

function judged({ backend, ...facts }: RowFacts, measured: Estimate): Row {
  if ('reference' in backend) {
    return {
      ...facts,
      backend: backend.reference,
      role: 'reference',
      measured,
      goal: undefined,
      verdict: { kind: 'none' },
      note: backend.description,
    }
  }
  const goal = goalOf(facts.id, backend)
  return { ...facts, backend: backend.name, role: 'backend', measured, goal, verdict: verdictOf(measured, goal) }
}
