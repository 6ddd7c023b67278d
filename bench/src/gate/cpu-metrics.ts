/** CPU time of what a session does most, each as a ratio to a reference in the same rounds. */
import path from 'node:path'
import type { AnySessionEvent, SessionPersistence } from 'session-persistence'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog, messagesLog, takeEvents } from '../input/generated-log.ts'
import { cpuTime } from '../measure/cpu-time.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { BareAppend, jsonLines } from '../reference/bare-append.ts'
import { parseFile } from '../reference/bare-replay.ts'
import { PooledAppend } from '../reference/pooled-append.ts'
import { appendEach } from '../scenario/append-inputs.ts'
import type { RunContext } from '../scenario/context.ts'
import { lasting, type StoredLog } from '../scenario/scenario.ts'
import { quantile } from '../statistics/estimate.ts'
import type { GateMetric } from './baseline.ts'

const ROUNDS = 15
const WARM_UP = 3
const DELTA_EVENTS = 20_000
const MESSAGE_EVENTS = 4_000
const BATCH = 1000
/** Flushes of a sample: one alone is over too soon for the clock of the processor. */
const BATCHES = 4
const SINGLES = 200
const LISTED = 500
const PAGE = 50
/**
 * What single appends are held against does its work where they do it, since a hop to another thread costs more on a busy
 * machine: in the thread pool, unless the backend is named here.
 */
const REFERENCE_OF_SINGLES: { readonly [backend: string]: string } = {
  sqlite: 'write and sync',
  memory: 'stringify one by one',
}

/** Names all metrics at once. */
export const EVERY = 'all'

/** Makes a metric slower on purpose, to prove that the gate notices. */
export interface SeededSlowdown {
  /** Its name, or `all`. */
  readonly metric: string
  readonly factor: number
}

interface GatedCase extends Case {
  readonly metric: string
  /** Name of the case that it is divided by. */
  readonly reference: string
}

export async function cpuMetrics(
  context: RunContext,
  slowdown?: SeededSlowdown,
): Promise<ReadonlyMap<string, GateMetric>> {
  const cases = await casesOf(context)
  const gated = cases.gated.map((one) =>
    slowdown?.metric === one.metric || slowdown?.metric === EVERY ? slowed(one, slowdown.factor) : one,
  )
  const references = cases.references.filter(({ name }) => gated.some(({ reference }) => reference === name))
  const samples = await interleave([...references, ...gated], {
    rounds: ROUNDS,
    warmUp: WARM_UP,
    signal: context.signal,
  })
  return new Map(
    gated.map(({ metric, name, reference }) => [
      metric,
      { kind: 'cpu', value: undisturbed(samplesOf(samples, name)) / undisturbed(samplesOf(samples, reference)) },
    ]),
  )
}

/**
 * What the work takes when nothing is in its way: the lowest tenth of the samples. Other programs make CPU time longer,
 * by cold caches and changes of context, and never shorter; the median moves with them, this does so far less.
 */
function undisturbed(samples: readonly number[]): number {
  return quantile(
    [...samples].sort((a, b) => a - b),
    0.1,
  )
}

/** Burns what the factor adds, as a real slowdown would, within the sample. */
function slowed(gated: GatedCase, factor: number): GatedCase {
  return {
    ...gated,
    sample: async (round) => {
      const ms = await gated.sample(round)
      return ms + (await cpuTime(() => burn(ms * (factor - 1))))
    },
  }
}

function burn(ms: number): void {
  const start = process.cpuUsage()
  for (;;) {
    const { user, system } = process.cpuUsage(start)
    if ((user + system) / 1000 >= ms) return
  }
}

async function casesOf(
  context: RunContext,
): Promise<{ readonly references: readonly Case[]; readonly gated: readonly GatedCase[] }> {
  const events = takeEvents(deltaLog, (ROUNDS + WARM_UP) * BATCH * BATCHES)
  const singles = takeEvents(deltaLog, (ROUNDS + WARM_UP) * SINGLES)
  const delta = context.parseFile(deltaLog, DELTA_EVENTS).file
  const messages = context.parseFile(messagesLog, MESSAGE_EVENTS).file
  const bare = new BareAppend(path.join(context.directory, 'gate-append'))
  context.defer(() => bare.close())
  const pool = await PooledAppend.open(path.join(context.directory, 'gate-pool'))
  context.defer(() => pool.close())
  const linesOf = (round: number): readonly Buffer[] =>
    singles.slice(round * SINGLES, (round + 1) * SINGLES).map((event) => Buffer.from(jsonLines([event])))
  const references: Case[] = [
    {
      name: 'write and sync',
      sample: (round) => {
        const lines = linesOf(round)
        return cpuTime(() => {
          for (const line of lines) bare.prepared(line)
        })
      },
    },
    {
      name: 'write and sync in the thread pool',
      sample: async (round) => {
        const lines = linesOf(round)
        return cpuTime(async () => {
          for (const line of lines) await pool.write(line)
        })
      },
    },
    {
      name: 'stringify one by one',
      sample: (round) => {
        const events = singles.slice(round * SINGLES, (round + 1) * SINGLES)
        return cpuTime(() => {
          // Often enough for the clock of the processor.
          for (let again = 0; again < 5; again++) for (const event of events) jsonLines([event])
        })
      },
    },
    {
      name: 'stringify',
      sample: (round) =>
        cpuTime(() => {
          for (const batch of batchesOf(events, round)) jsonLines(batch)
        }),
    },
    { name: 'parse delta', sample: () => cpuTime(() => parseFile(delta)) },
    { name: 'parse messages', sample: () => cpuTime(() => parseFile(messages)) },
  ]
  const gated: GatedCase[] = []
  for (const backend of context.backends) gated.push(...(await backendCases(context, backend, events, singles)))
  return { references, gated }
}

function batchesOf(events: readonly AnySessionEvent[], round: number): readonly (readonly AnySessionEvent[])[] {
  return Array.from({ length: BATCHES }, (_, batch) => {
    const start = (round * BATCHES + batch) * BATCH
    return events.slice(start, start + BATCH)
  })
}

async function backendCases(
  context: RunContext,
  backend: BenchBackend,
  events: readonly AnySessionEvent[],
  singles: readonly AnySessionEvent[],
): Promise<readonly GatedCase[]> {
  const add = (what: string, reference: string, work: (round: number) => Promise<unknown>): GatedCase => {
    const metric = `cpu/${what} ${backend.name}`
    return { metric, name: metric, reference, sample: (round) => cpuTime(() => work(round)) }
  }
  const batched = await (await context.open(backend)).create()
  const single = await (await context.open(backend)).create()
  const delta = await context.stored(backend, deltaLog, DELTA_EVENTS)
  const always = [
    add('append-1000', 'stringify', async (round) => {
      for (const batch of batchesOf(events, round)) {
        appendEach(batched, batch)
        await batched.flush()
      }
    }),
    add('append-1', REFERENCE_OF_SINGLES[backend.name] ?? 'write and sync in the thread pool', async (round) => {
      for (let at = round * SINGLES; at < (round + 1) * SINGLES; at++) {
        appendEach(single, singles.slice(at, at + 1))
        await single.flush()
      }
    }),
    add('resume', 'parse delta', async () => {
      const session = await delta.persistence.resume(delta.id, { openTurn: 'keep' })
      await session.abandon()
    }),
  ]
  // In memory the rest is over too soon to be measured.
  if (lasting([backend]).length === 0) return always
  const messages = await context.stored(backend, messagesLog, MESSAGE_EVENTS)
  const listed = await storeWithSessions(context, backend)
  return [
    ...always,
    add('replay-delta', 'parse delta', () => readAll(delta)),
    add('replay-messages', 'parse messages', () => readAll(messages)),
    add('list', 'parse delta', () => listed.list({ limit: PAGE })),
  ]
}

async function storeWithSessions(context: RunContext, backend: BenchBackend): Promise<SessionPersistence> {
  const persistence = await context.open(backend)
  for (let made = 0; made < LISTED; made++) {
    const session = await persistence.create()
    session.append('session/title', { title: 'A title' })
    await session.close()
  }
  return persistence
}

async function readAll({ persistence, id }: StoredLog): Promise<void> {
  for await (const _event of persistence.read(id));
}
