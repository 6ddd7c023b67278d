/** How much a run does. Both scales prove the same things; the quick one has wider intervals. */
export interface Scale {
  readonly name: 'full' | 'quick'
  readonly rounds: number
  readonly warmUp: number
  /** Rounds and warm-up of what takes seconds a round. */
  readonly longRounds: number
  readonly longWarmUp: number
  /** Flushes of a round, by events a flush: long enough for the clock, short enough to interleave. */
  readonly flushes: { readonly [eventsPerFlush: number]: number }
  /** Single appends before those that count. */
  readonly settled: number
  /** Sessions created before those that count: the first in a process take several times as long, until their code is compiled. */
  readonly settledCreates: number
  readonly pipelined: number
  readonly sessions: number
  readonly deltaEvents: number
  readonly messageEvents: number
  readonly longEvents: number
  readonly listed: number
  /** Processes that are started for each number that needs its own. */
  readonly processes: number
  readonly streamSeconds: number
}

export const FULL: Scale = {
  name: 'full',
  rounds: 21,
  warmUp: 3,
  longRounds: 7,
  longWarmUp: 1,
  flushes: { 1: 100, 10: 40, 100: 12, 1000: 4 },
  settled: 1000,
  settledCreates: 300,
  pipelined: 2000,
  sessions: 64,
  deltaEvents: 100_000,
  messageEvents: 20_000,
  longEvents: 1_000_000,
  listed: 10_000,
  processes: 6,
  streamSeconds: 3,
}

export const QUICK: Scale = {
  ...FULL,
  name: 'quick',
  rounds: 9,
  warmUp: 2,
  longRounds: 6,
  deltaEvents: 20_000,
  messageEvents: 4_000,
  longEvents: 100_000,
  listed: 1_000,
  streamSeconds: 1,
}
