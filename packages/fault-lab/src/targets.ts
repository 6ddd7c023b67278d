/**
 * What every full run has to reach, in one table: the rows of docs/reliability.md, in their order. The suites take their
 * amounts from here, and the figures of a run are held against it.
 */

/** One count that the evidence of some suites must show. */
export interface Goal {
  /** Suites, without what they ran on: `disk full`. */
  readonly suite: string
  /** Key of their figures: `offsets`. */
  readonly count: string
  /** All of them together, or each of so many. */
  readonly over: 'sum' | { readonly each: number }
  /** A number, or another key of the same figures: everything that there is. */
  readonly least: number | string
}

export interface Target {
  readonly row: string
  readonly figure: string
  readonly why: string
  readonly goals: readonly Goal[]
}

const EACH_BACKEND = { each: 3 }

/** The whole amounts. */
export const WHOLE: {
  readonly [what in
    | 'modelledStates'
    | 'modelledKills'
    | 'tracedStates'
    | 'realCuts'
    | 'kills'
    | 'logBytes'
    | 'mutations'
    | 'databases'
    | 'contenders'
    | 'lockHolders'
    | 'fullDisks'
    | 'hostileFiles'
    | 'hostileIds'
    | 'seededBugs']: number
} = {
  modelledStates: 1_000_000,
  /** Operations of the write paths after which a process is killed: more than so many. */
  modelledKills: 300,
  tracedStates: 5_000,
  realCuts: 100,
  kills: 500,
  logBytes: 16 * 1024,
  mutations: 500_000,
  databases: 20_000,
  contenders: 8,
  lockHolders: 200,
  fullDisks: 256,
  hostileFiles: 40,
  hostileIds: 200,
  seededBugs: 12,
}

export const TARGETS: readonly Target[] = [
  {
    row: 'modelled crash states, file backends',
    figure: '1,000,000 distinct',
    why: 'A step that is forgotten on one path shows in few states of it: a state in ten thousand has to be met often.',
    goals: [{ suite: 'power cuts, modelled', count: 'crash states', over: 'sum', least: WHOLE.modelledStates }],
  },
  {
    row: 'crash states from real system calls',
    figure: '5,000 distinct for each of the three backends',
    why: 'The model knows what it was told; the native addon of SQLite is only seen from outside.',
    goals: [
      { suite: 'power cuts, from system calls', count: 'crash states', over: EACH_BACKEND, least: WHOLE.tracedStates },
    ],
  },
  {
    row: 'real power cuts',
    figure: '100 cuts with 6 writers over ext4 (three mount options) and XFS',
    why: 'Shows that the assumptions of the model hold where people store their sessions.',
    goals: [
      { suite: 'power cuts, real', count: 'cuts', over: 'sum', least: WHOLE.realCuts },
      { suite: 'power cuts, real', count: 'cuts', over: { each: 4 }, least: WHOLE.realCuts / 4 },
      { suite: 'failed syncs, real', count: 'rounds', over: EACH_BACKEND, least: 1 },
    ],
  },
  {
    row: 'SIGKILL',
    figure: '500 at random, and one at every traced system call of every write path, recovery included',
    why: 'Kills lose little by themselves; they leave the states from which the next process must recover.',
    goals: [
      { suite: 'killed at any moment', count: 'kills', over: 'sum', least: WHOLE.kills },
      { suite: 'killed at a system call', count: 'kills', over: EACH_BACKEND, least: 'possible' },
      { suite: 'kill, recover, power cut', count: 'kills', over: { each: 3 }, least: WHOLE.modelledKills },
    ],
  },
  {
    row: 'input and output errors',
    figure: 'every system call with EIO, ENOSPC, EDQUOT and EMFILE, once and for ever, during recovery too',
    why: 'An error path runs once in years, and then decides whether anything is left.',
    goals: [
      { suite: 'injected errors', count: 'runs', over: EACH_BACKEND, least: 'possible' },
      { suite: 'errors of system calls', count: 'errors', over: EACH_BACKEND, least: 'possible' },
    ],
  },
  {
    row: 'truncation',
    figure: 'every length of a 16 KiB log of each format, of a database and of its write-ahead log',
    why: 'A tear has no preferred place.',
    goals: [{ suite: 'every byte cut', count: 'lengths', over: { each: 5 }, least: 'possible' }],
  },
  {
    row: 'single-bit flips',
    figure: 'every bit of a 16 KiB log of each format, of a database and of its write-ahead log: noticed, or the same',
    why: 'Checksums have holes where a field is left out of them.',
    goals: [{ suite: 'every bit flipped', count: 'bits', over: { each: 5 }, least: 'possible' }],
  },
  {
    row: 'fuzzing, structure-aware, seeded',
    figure: '500,000 mutations of each text or zstd reader, 20,000 database files',
    why: 'Readers meet files that nobody meant to make.',
    goals: [
      { suite: 'fuzzed logs', count: 'mutations', over: { each: 3 }, least: WHOLE.mutations },
      { suite: 'fuzzed databases', count: 'files', over: 'sum', least: WHOLE.databases },
    ],
  },
  {
    row: 'concurrency',
    figure: '8 processes on one root, 200 lock holders killed',
    why: 'Two writers of one log are the end of it.',
    goals: [
      { suite: 'contention', count: 'processes', over: EACH_BACKEND, least: WHOLE.contenders },
      { suite: 'killed lock holders', count: 'kills', over: 'sum', least: WHOLE.lockHolders },
    ],
  },
  {
    row: 'disk full',
    figure: '256 byte offsets for each of the three backends, then space returns',
    why: 'Running out of space is the most common error of a disk, and it comes in mid-write.',
    goals: [{ suite: 'disk full', count: 'offsets', over: EACH_BACKEND, least: WHOLE.fullDisks }],
  },
  {
    row: 'hostile inputs',
    figure: '40 files and 200 ids: a typed error, or what was stored, within 200 ms and 64 MB',
    why: 'A file from elsewhere may be made to cost time, memory or another file.',
    goals: [
      { suite: 'hostile files', count: 'files', over: 'sum', least: WHOLE.hostileFiles },
      { suite: 'hostile ids', count: 'ids', over: EACH_BACKEND, least: WHOLE.hostileIds },
    ],
  },
  {
    row: 'seeded bugs in our own code',
    figure: '12, each caught by a named suite',
    why: 'A suite that cannot fail proves nothing.',
    goals: [{ suite: 'seeded bugs', count: 'caught', over: 'sum', least: WHOLE.seededBugs }],
  },
  {
    row: 'soak',
    figure: 'on demand: 10 minutes, two processes, random operations and faults, flat handles and memory',
    why: 'Leaks show after hours.',
    goals: [{ suite: 'soak', count: 'processes', over: EACH_BACKEND, least: 2 }],
  },
]
