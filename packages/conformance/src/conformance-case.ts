import type { BackendCapabilities, PersistenceOptions, SessionPersistence } from '@session-persistence/core'
import type { Medium } from './harness.ts'
import type { SpawnWorker } from './worker-process.ts'

/** The families of the contract, in the order of the document. */
export const FAMILIES = [
  'LIFE',
  'APPEND',
  'GRAMMAR',
  'DURABLE',
  'READ',
  'LIST',
  'ID',
  'DATA',
  'CHECKPOINT',
  'CLOSE',
  'RECOVER',
  'FORK',
  'DELETE',
  'CONC',
  'CRASH',
  'CORRUPT',
  'VERSION',
  'SEC',
  'ERR',
  'CAP',
  'MODEL',
] as const

/** Families of the tiers that other packages bring (see {@link TierExtension}). */
export const EXTENSION_FAMILIES = ['IO', 'POWER'] as const

export type Family = (typeof FAMILIES)[number] | (typeof EXTENSION_FAMILIES)[number]

/**
 * What a case touches. `logic`: the interface alone. `process`: other processes, killed. `medium`: the stored bytes,
 * cut, flipped, zeroed, swapped. `io` and `power`, calls that fail and writes that a power cut loses, come with an
 * extension.
 */
export type Tier = 'logic' | 'process' | 'medium' | ExtensionTier

export type ExtensionTier = 'io' | 'power'

/** In the order in which a level builds on the one before. */
export const TIERS: readonly Tier[] = ['logic', 'process', 'medium', 'io', 'power']

/** What must be there for a case to run. Anything missing makes it skipped, with the reason printed. */
export interface CaseNeeds {
  readonly tier: Tier
  /** Capability levels for which the clause says anything. */
  readonly capabilities?: { readonly [K in keyof BackendCapabilities]?: readonly BackendCapabilities[K][] }
  /** Milliseconds in which something must happen; default 30,000. */
  readonly timeoutMs?: number
}

/** One clause of the contract and how it is tried. The id is the clause's number for ever. */
export interface ConformanceCase {
  readonly id: string
  readonly level: 'MUST' | 'SHOULD'
  readonly family: Family
  /** The clause, one sentence. */
  readonly title: string
  /** What goes wrong for users without it. */
  readonly why: string
  /** Version of the contract that brought it. */
  readonly since: string
  readonly needs: CaseNeeds
  /** The declared capability that the case compares with what it observes: a failure makes the declaration a lie. */
  readonly observes?: keyof BackendCapabilities
  readonly run: (context: CaseContext) => Promise<void>
}

/** A medium as a case sees it: everything opened here is closed when the case ends. */
export interface CaseMedium extends Medium {
  /** Ends the case as skipped where the harness does not tell the files. */
  readonly files: () => Promise<readonly string[]>
  /** Whether the harness tells the files. */
  readonly listsFiles: boolean
}

export interface CaseContext {
  readonly capabilities: BackendCapabilities
  /** `quick` tries a sample where `full` tries everything. */
  readonly effort: 'quick' | 'full'
  /** 0 to 1, seeded: the same run gives the same numbers. */
  readonly random: () => number
  /** The medium of this case. */
  readonly medium: CaseMedium
  /** Opens it, with a clock that counts from {@link CLOCK_START} unless the options bring one. */
  open(options?: PersistenceOptions): Promise<SessionPersistence>
  /** Another empty medium. */
  newMedium(): Promise<CaseMedium>
  /** Starts a worker process on the medium of this case. */
  readonly spawn: SpawnWorker
  /** Whether the harness and its medium let other processes work on it. */
  readonly spawns: boolean
  /** Ends the case as skipped. */
  skip(reason: string): never
  /** Ends the case as one that says nothing of this medium, as the kit has seen for itself. */
  doesNotApply(reason: string): never
  /** Adds a line to the history that a failure shows: what was done to the medium beside the persistence. */
  note(text: string | (() => string)): void
  /** Adds to what the report says that was tried: `tried('crash states', 512)`. */
  tried(what: string, count: number): void
  /** Adds to what this case observed. For one seed it must be the same text on every backend. */
  observe(text: string): void
}

/** First time that the clock of a case shows, in Unix milliseconds. */
export const CLOCK_START = 1_700_000_000_000

/** Thrown by `context.skip`. */
export class CaseSkipped extends Error {
  override readonly name = 'CaseSkipped'
}

/** Thrown by `context.doesNotApply`. */
export class CaseNotApplicable extends Error {
  override readonly name = 'CaseNotApplicable'
}
