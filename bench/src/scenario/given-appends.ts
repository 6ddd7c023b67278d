/** Durable appends of a real log by events a flush, at the port: real events, whatever grammar their harness kept. */
import path from 'node:path'
import type { AnySessionEvent, StorageWriter } from 'session-persistence'
import type { BenchBackend } from '../backend/bench-backend.ts'
import type { GivenLog } from '../input/given-logs.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { BareAppend } from '../reference/bare-append.ts'
import { REFERENCES, type Row, ratioRow } from '../report/row.ts'
import { lasting, type ScenarioContext } from './scenario.ts'

const BATCHES = [1, 10, 100, 1000] as const

/** Rows `${id}/append/1` and so on. The longest of the logs is appended, from its start again where it ends. */
export async function givenAppendRows(
  context: ScenarioContext,
  id: string,
  what: string,
  logs: readonly GivenLog[],
): Promise<readonly Row[]> {
  const longest = logs.reduce((found, log) => (log.events.length > found.events.length ? log : found))
  const rows: Row[] = []
  for (const batch of BATCHES) {
    if (longest.events.length < batch) continue
    context.progress(`${what}: append, ${batch} a flush`)
    rows.push(...(await appendRows(context, { id, what, log: longest, batch })))
  }
  return rows
}

interface Given {
  readonly id: string
  readonly what: string
  readonly log: GivenLog
  readonly batch: number
}

async function appendRows(context: ScenarioContext, { id, what, log, batch }: Given): Promise<readonly Row[]> {
  const flushes = Math.min(context.scale.flushes[batch] ?? 1, Math.floor(log.events.length / batch))
  // Rounds until the log is used up; then a new session begins with its first event.
  const lap = Math.floor(log.events.length / (flushes * batch))
  const batchesOf = (round: number): readonly (readonly AnySessionEvent[])[] =>
    Array.from({ length: flushes }, (_, flush) => {
      const start = ((round % lap) * flushes + flush) * batch
      return log.events.slice(start, start + batch)
    })
  const bare = new BareAppend(path.join(context.directory, `${id}-append-${batch}`))
  context.defer(() => bare.close())
  const cases: Case[] = [
    {
      name: 'W',
      sample: (round) => {
        const batches = batchesOf(round)
        return (
          elapsedSync(() => {
            for (const events of batches) bare.stringified(events)
          }) / flushes
        )
      },
    },
  ]
  const measured: BenchBackend[] = []
  for (const backend of lasting(context.backends)) {
    const storage = (await context.medium(backend)).storage?.()
    if (storage === undefined) continue
    context.defer(() => storage.close())
    measured.push(backend)
    let writer: StorageWriter | undefined
    context.defer(() => writer?.close())
    cases.push({
      name: backend.name,
      sample: async (round) => {
        if (round % lap === 0) {
          await writer?.close()
          const header = { ...log.header, id: `bench-${round}` }
          writer = await storage.openWriter(header.id, { kind: 'create', header })
        }
        const open = writer
        const batches = batchesOf(round)
        const ms = await elapsed(async () => {
          for (const events of batches) await open?.append(events)
        })
        return ms / flushes
      },
    })
  }
  const samples = await interleave(cases, context.plan())
  const title = `durable append, ${batch.toLocaleString('en-US')} a flush, ${what}`
  const W = samplesOf(samples, 'W')
  const facts = { id: `${id}/append/${batch}`, title, unit: '× W' } as const
  return [
    ratioRow({ ...facts, backend: REFERENCES.W, through: 'none' }, W, W, { unit: 'µs', per: 1 }),
    ...measured.map((backend) =>
      ratioRow({ ...facts, backend, through: 'port' }, samplesOf(samples, backend.name), W, { unit: 'µs', per: 1 }),
    ),
  ]
}
