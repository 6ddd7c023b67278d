/** Real logs, all of them in one store: what a person who chooses a backend wants to know about their own. */
import fs from 'node:fs'
import path from 'node:path'
import { type AnySessionEvent, type EventCatalog, isCoreType, type SessionPersistence } from 'session-persistence'
import type { BenchBackend } from '../backend/bench-backend.ts'
import type { GivenLog, GivenLogs } from '../input/given-logs.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { BareAppend } from '../reference/bare-append.ts'
import { parseFile } from '../reference/bare-replay.ts'
import { countedRow, plainRow, REFERENCES, type Row, ratioRow } from '../report/row.ts'
import { exactly } from '../statistics/estimate.ts'
import { givenAppendRows } from './given-appends.ts'
import { lasting, type Scenario, type ScenarioContext } from './scenario.ts'

const PAGE = 100
const LAST = 50

/** Fewer are stored and read in about the time of one disturbance by other work, and of opening a log. */
const SHORT_EVENTS = 1000

function shortLog(name: string, events: number): string {
  return `${name} is short (${events} events, fewer than ${SHORT_EVENTS.toLocaleString('en-US')}): its intervals are wide, and fixed costs outweigh those of an event.`
}

/** A scenario over these logs; `id` tells a user's file from the corpus. */
export function givenLogsScenario(id: string, given: GivenLogs): Scenario {
  const events = given.logs.reduce((sum, log) => sum + log.events.length, 0)
  const count = `${given.logs.length.toLocaleString('en-US')} log${given.logs.length === 1 ? '' : 's'}`
  const what = `${given.name}: ${count}, ${events.toLocaleString('en-US')} events`
  return {
    id,
    ...(events < SHORT_EVENTS ? { caution: shortLog(given.name, events) } : {}),
    description: `real logs, ${what}: stored, appended, replayed, resumed and read from the end`,
    run: (context) => measure(context, id, what, given.logs),
  }
}

async function measure(
  context: ScenarioContext,
  id: string,
  what: string,
  logs: readonly GivenLog[],
): Promise<readonly Row[]> {
  const backends = lasting(context.backends)
  const file = path.join(context.directory, `${id}.json`)
  const lines = writeReferences(file, logs)
  context.defer(() => fs.rmSync(file, { force: true }))
  const stores: { readonly backend: BenchBackend; readonly persistence: SessionPersistence }[] = []
  for (const backend of backends) {
    context.progress(`${what}: storing in ${backend.name}`)
    const persistence = await context.open(backend, { events: catalogOf(logs) })
    for (const log of logs) await persistence.importLog({ header: log.header, events: pages(log) })
    stores.push({ backend, persistence })
  }
  const rows: Row[] = []
  for (const { backend, persistence } of stores) {
    let bytes = 0
    for (const { header } of logs) bytes += (await persistence.inspect(header.id)).bytes
    const facts = { id: `${id}/size`, title: `bytes on disk, ${what}`, backend, through: 'session' } as const
    const row = countedRow({ ...facts, unit: '× JSONL' }, bytes / lines)
    rows.push({ ...row, absolute: { value: exactly(bytes), unit: 'bytes' } })
  }
  context.progress(what)
  const replayed = await interleave(
    [
      { name: 'P', sample: () => elapsed(() => parseFile(file)) },
      ...stores.flatMap(({ backend, persistence }): Case[] => [
        { name: `${backend.name} replay`, sample: () => elapsed(() => replayAll(persistence, logs)) },
        { name: `${backend.name} resume`, sample: () => resumeAll(persistence, logs) },
        { name: `${backend.name} last`, sample: () => readEnds(persistence, logs) },
      ]),
    ],
    context.plan(),
  )
  const P = samplesOf(replayed, 'P')
  rows.push(
    ratioRow(
      { id: `${id}/replay`, title: `full replay, ${what}`, backend: REFERENCES.P, through: 'none', unit: '× P' },
      P,
      P,
    ),
  )
  for (const { backend } of stores) {
    const facts = { backend, through: 'session' } as const
    const of = (name: string): readonly number[] => samplesOf(replayed, `${backend.name} ${name}`)
    rows.push(
      ratioRow({ ...facts, id: `${id}/replay`, title: `full replay, ${what}`, unit: '× P' }, of('replay'), P),
      ratioRow({ ...facts, id: `${id}/resume`, title: `cold resume of each, ${what}`, unit: '× P' }, of('resume'), P),
      plainRow(
        { ...facts, id: `${id}/last-${LAST}`, title: `last ${LAST} events of a log, ${what}`, unit: 'ms' },
        of('last'),
      ),
    )
  }
  rows.push(...(await storeRows(context, id, what, logs)), ...(await givenAppendRows(context, id, what, logs)))
  return rows
}

/** Storing everything again and again, each time in an empty store, against W on the same events. */
async function storeRows(
  context: ScenarioContext,
  id: string,
  what: string,
  logs: readonly GivenLog[],
): Promise<readonly Row[]> {
  const backends = lasting(context.backends)
  const catalog = catalogOf(logs)
  let round = 0
  const cases: Case[] = [
    {
      name: 'W',
      sample: () => {
        const bare = new BareAppend(path.join(context.directory, `${id}-w-${round++}`))
        const ms = elapsedSync(() => {
          for (const { events } of logs) {
            for (let at = 0; at < events.length; at += PAGE) bare.stringified(events.slice(at, at + PAGE))
          }
        })
        bare.close()
        return ms
      },
    },
    ...backends.map(
      (backend): Case => ({
        name: backend.name,
        sample: async () => {
          const medium = await backend.createMedium()
          const persistence = await medium.open({ events: catalog })
          try {
            return await elapsed(async () => {
              for (const log of logs) await persistence.importLog({ header: log.header, events: pages(log) })
            })
          } finally {
            await persistence.close()
            await medium.destroy?.()
          }
        },
      }),
    ),
  ]
  const samples = await interleave(cases, context.plan('long'))
  const W = samplesOf(samples, 'W')
  const facts = { id: `${id}/store`, title: `store whole logs, ${PAGE} events a batch, ${what}`, unit: '× W' } as const
  return [
    ratioRow({ ...facts, backend: REFERENCES.W, through: 'none' }, W, W),
    ...backends.map((backend) =>
      ratioRow({ ...facts, backend, through: 'session' }, samplesOf(samples, backend.name), W),
    ),
  ]
}

/** Writes reference P's file, and returns the bytes of all events as JSON lines. */
function writeReferences(file: string, logs: readonly GivenLog[]): number {
  const lines = logs.flatMap(({ events }) => events.map((event) => JSON.stringify(event)))
  fs.writeFileSync(file, `[${lines.join(',')}]`, { flag: 'wx', mode: 0o600 })
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
}

async function replayAll(persistence: SessionPersistence, logs: readonly GivenLog[]): Promise<void> {
  for (const { header, events } of logs) {
    let count = 0
    for await (const _event of persistence.read(header.id)) count++
    if (count !== events.length) throw new Error(`the replay gave ${count} events of ${events.length}`)
  }
}

/** Milliseconds of all resumes; what releases them does not count. */
async function resumeAll(persistence: SessionPersistence, logs: readonly GivenLog[]): Promise<number> {
  let ms = 0
  for (const { header } of logs) {
    const start = performance.now()
    const session = await persistence.resume(header.id, { openTurn: 'keep', preserveUnknown: true })
    ms += performance.now() - start
    await session.abandon()
  }
  return ms
}

/** Milliseconds a log. */
async function readEnds(persistence: SessionPersistence, logs: readonly GivenLog[]): Promise<number> {
  const ms = await elapsed(async () => {
    for (const { header, events } of logs) {
      for await (const _event of persistence.read(header.id, { from: Math.max(0, events.length - LAST) }));
    }
  })
  return ms / logs.length
}

/** Extension types of the logs, so that a resume does not refuse them. */
function catalogOf(logs: readonly GivenLog[]): EventCatalog {
  const extensions = logs.flatMap(({ events }) => events.filter(({ type }) => !isCoreType(type)))
  return Object.fromEntries(extensions.map(({ type, ignorable }) => [type, { ignorable: ignorable === true }]))
}

async function* pages({ events }: GivenLog): AsyncGenerator<readonly AnySessionEvent[]> {
  for (let start = 0; start < events.length; start += PAGE) yield events.slice(start, start + PAGE)
}
