/** Durable append by events a flush, through the session and at the port, against S and W. */
import path from 'node:path'
import { FORMAT_VERSION, type SessionHeader } from 'session-persistence'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog } from '../input/generated-log.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave, type RoundPlan, samplesOf } from '../measure/interleave.ts'
import { BareAppend, jsonLines } from '../reference/bare-append.ts'
import { NaiveLog } from '../reference/naive-log.ts'
import { REFERENCES, type Reference, type Row, ratioRow } from '../report/row.ts'
import { RoundInputs, sessionCase } from './append-inputs.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'

const BATCHES = [1, 10, 100, 1000] as const

export const appendScenario: Scenario = {
  id: 'append',
  description: 'durable append of delta events: ms a flush against a bare write + fdatasync (S), with stringify (W)',
  async run(context) {
    const rows: Row[] = []
    for (const events of BATCHES) {
      context.progress(`append, ${events} a flush`)
      rows.push(...(await appendBatches(context, events)))
    }
    return rows
  },
}

interface Tried {
  readonly backend: BenchBackend | Reference
  readonly through: Row['through']
  /** Of its case. */
  readonly name: string
}

async function appendBatches(context: ScenarioContext, events: number): Promise<readonly Row[]> {
  const flushes = context.scale.flushes[events] ?? 1
  const plan = settledPlan(context, flushes, events)
  const inputs = new RoundInputs(deltaLog, plan.rounds + plan.warmUp, flushes, events)
  const cases: Case[] = referenceCases(context, inputs, flushes, events)
  const tried: Tried[] = (['S', 'W', 'naive'] as const).map((name) => ({
    backend: REFERENCES[name],
    through: 'none',
    name,
  }))
  for (const backend of context.backends) {
    const session = `${backend.name} session`
    cases.push(await sessionCase(session, await context.open(backend), inputs, flushes))
    tried.push({ backend, through: 'session', name: session })
    const port = await portCase(context, backend, inputs, flushes)
    if (port === undefined) continue
    cases.push(port)
    tried.push({ backend, through: 'port', name: port.name })
  }
  const samples = await interleave(cases, plan)
  // One event is held to the physical limit; batches to what a careful program would do by hand.
  const reference = events === 1 ? 'S' : 'W'
  return tried.map(({ backend, through, name }) =>
    ratioRow(
      {
        id: `append/${events}`,
        title: `durable append, ${events === 1 ? '1 event' : `${events.toLocaleString('en-US')} events`} a flush`,
        backend,
        through,
        unit: `× ${reference}`,
      },
      samplesOf(samples, name),
      samplesOf(samples, reference),
      { unit: 'µs', per: 1 },
    ),
  )
}

/** Single appends are stated for a log that has had a thousand: a WAL grows until its first checkpoint. */
function settledPlan(context: ScenarioContext, flushes: number, events: number): RoundPlan {
  const plan = context.plan()
  return events === 1 ? { ...plan, warmUp: Math.max(plan.warmUp, Math.ceil(context.scale.settled / flushes)) } : plan
}

function referenceCases(context: ScenarioContext, inputs: RoundInputs, flushes: number, events: number): Case[] {
  const file = (letter: string): BareAppend => {
    const bare = new BareAppend(path.join(context.directory, `append-${letter}-${events}`))
    context.defer(() => bare.close())
    return bare
  }
  const s = file('s')
  const w = file('w')
  const naive = new NaiveLog(path.join(context.directory, `append-naive-${events}`))
  return [
    {
      name: 'S',
      sample: (round) => {
        const ready = inputs.round(round).map((batch) => Buffer.from(jsonLines(batch)))
        return (
          elapsedSync(() => {
            for (const bytes of ready) s.prepared(bytes)
          }) / flushes
        )
      },
    },
    {
      name: 'W',
      sample: (round) => {
        const batches = inputs.round(round)
        return (
          elapsedSync(() => {
            for (const batch of batches) w.stringified(batch)
          }) / flushes
        )
      },
    },
    {
      name: 'naive',
      sample: (round) => {
        const batches = inputs.round(round)
        return (
          elapsedSync(() => {
            for (const batch of batches) naive.append(batch)
          }) / flushes
        )
      },
    },
  ]
}

async function portCase(
  context: ScenarioContext,
  backend: BenchBackend,
  inputs: RoundInputs,
  flushes: number,
): Promise<Case | undefined> {
  const medium = await context.medium(backend)
  const storage = medium.storage?.()
  if (storage === undefined) return undefined
  context.defer(() => storage.close())
  const header: SessionHeader = { version: FORMAT_VERSION, id: 'bench-port', createdAt: 0, messageFormat: 'plain' }
  const writer = await storage.openWriter(header.id, { kind: 'create', header })
  context.defer(() => writer.close())
  return {
    name: `${backend.name} port`,
    sample: async (round) => {
      const batches = inputs.round(round)
      const ms = await elapsed(async () => {
        for (const batch of batches) await writer.append(batch)
      })
      return ms / flushes
    },
  }
}
