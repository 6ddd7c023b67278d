/**
 * The clauses of the tiers *io* and *power*, whoever tries them and by whatever means: with system calls that really
 * fail, or on a model of a file system.
 */
import type { CaseContext, CaseNeeds, ConformanceCase, ExtensionTier } from '../conformance-case.ts'

export interface FaultClause {
  readonly tier: ExtensionTier
  readonly title: string
  readonly why: string
  readonly capabilities?: CaseNeeds['capabilities']
}

const POWER: FaultClause['capabilities'] = { durability: ['power'] }

export type FaultClauseId = 'IO-1' | 'IO-2' | 'IO-3' | 'IO-4' | 'POWER-1' | 'POWER-2' | 'POWER-3'

export const FAULT_CLAUSES: { readonly [I in FaultClauseId]: FaultClause } = {
  'IO-1': {
    tier: 'io',
    title:
      'Whichever call fails once: a flush that is tried again succeeds, and everything is stored once and in order.',
    why: 'A disk that stutters must cost time, not events.',
  },
  'IO-2': {
    tier: 'io',
    title:
      'Whichever call fails from then on: the error is typed, and what was acknowledged is there when the disk is well.',
    why: 'A disk that dies must not take what it had already been given.',
  },
  'IO-3': {
    tier: 'io',
    title: 'A resume under whichever failing call succeeds or is refused with a type; another one finds everything.',
    why: 'Recovery runs where something has just gone wrong, and may meet the next error.',
  },
  'IO-4': {
    tier: 'io',
    title: 'After a sync that failed, what a later flush covers is on the medium: a power cut takes nothing of it.',
    why: 'The system forgets what it could not write, and the next sync succeeds without having written it.',
    capabilities: POWER,
  },
  'POWER-1': {
    tier: 'power',
    title:
      'Wherever the power is cut: everything that a flush covered is there, in order, and nothing that nobody appended.',
    why: 'It is the promise of flush.',
    capabilities: POWER,
  },
  'POWER-2': {
    tier: 'power',
    title: 'What a power cut left resumes, or is created again, goes on, and survives the next cut.',
    why: 'A recovery that is not durable itself loses what the first cut had spared.',
    capabilities: POWER,
  },
  'POWER-3': {
    tier: 'power',
    title: 'A deleted session does not come back, whenever the power is cut after delete has resolved.',
    why: 'What somebody wanted to be gone must be gone.',
    capabilities: POWER,
  },
}

/** Milliseconds in which something must happen: a struck process may wait for its disk for a while. */
const TIMEOUT_MS = 240_000

/** The clause with a way to try it. */
export function faultCase(id: FaultClauseId, run: (context: CaseContext) => Promise<void>): ConformanceCase {
  const { tier, title, why, capabilities } = FAULT_CLAUSES[id]
  const needs = { tier, timeoutMs: TIMEOUT_MS, ...(capabilities === undefined ? {} : { capabilities }) }
  return { id, level: 'MUST', family: tier === 'io' ? 'IO' : 'POWER', title, why, since: '0.1', needs, run }
}
