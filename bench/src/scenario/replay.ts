/** Full replay to checked events, one by one, in pages and in pages at the port, against readFile + JSON.parse (P). */
import path from 'node:path'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog, type LogInput, messagesLog } from '../input/generated-log.ts'
import { elapsed } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { parseFile } from '../reference/bare-replay.ts'
import { readNaiveFile, writeNaiveFile } from '../reference/naive-log.ts'
import { REFERENCES, type Reference, type Row, ratioRow } from '../report/row.ts'
import type { Scenario, ScenarioContext, StoredLog } from './scenario.ts'

export const replayScenario: Scenario = {
  id: 'replay',
  description: 'full replay to checked events, against readFile + one JSON.parse of the unpacked log (P)',
  async run(context) {
    return [
      ...(await replay(context, deltaLog, context.scale.deltaEvents)),
      ...(await replay(context, messagesLog, context.scale.messageEvents)),
    ]
  },
}

async function replay(context: ScenarioContext, input: LogInput, count: number): Promise<readonly Row[]> {
  const { file } = context.parseFile(input, count)
  const naive = path.join(context.directory, `naive-${input.name}-${count}.jsonl`)
  writeNaiveFile(naive, input, count)
  const cases: Case[] = [
    { name: 'P', sample: () => elapsed(() => parseFile(file)) },
    { name: 'naive', sample: () => elapsed(() => readNaiveFile(naive)) },
  ]
  const tried: {
    readonly backend: BenchBackend | Reference
    readonly through: Row['through']
    readonly name: string
  }[] = (['P', 'naive'] as const).map((name) => ({ backend: REFERENCES[name], through: 'none', name }))
  for (const backend of context.backends) {
    const stored = await context.stored(backend, input, count)
    if (input === deltaLog)
      cases.push({ name: `${backend.name} reverse`, sample: () => elapsed(() => readAll(stored, count, true)) })
    const session = `${backend.name} session`
    cases.push({ name: session, sample: () => elapsed(() => readAll(stored, count)) })
    tried.push({ backend, through: 'session', name: session })
    cases.push({ name: `${backend.name} pages`, sample: () => elapsed(() => readPages(stored, count)) })
    if (stored.storage === undefined) continue
    const port = `${backend.name} port`
    cases.push({ name: port, sample: () => elapsed(() => readAtPort(stored, count)) })
    tried.push({ backend, through: 'port', name: port })
  }
  context.progress(`replay, ${input.name}`)
  const samples = await interleave(cases, context.plan())
  const P = samplesOf(samples, 'P')
  const forwards = tried.map(({ backend, through, name }) => {
    const title = `full replay to checked events, ${input.name}`
    return ratioRow({ id: `replay/${input.name}`, title, backend, through, unit: '× P' }, samplesOf(samples, name), P)
  })
  const inPages = context.backends.map((backend) => {
    const title = `full replay to checked events in pages, ${input.name}`
    const facts = { id: `replay/${input.name}/pages`, title, backend, through: 'session', unit: '× P' } as const
    return ratioRow(facts, samplesOf(samples, `${backend.name} pages`), P)
  })
  if (input !== deltaLog) return [...forwards, ...inPages]
  const backwards = context.backends.map((backend) => {
    const title = `the same backwards, ${input.name}`
    const facts = { id: `replay/${input.name}/reverse`, title, backend, through: 'session', unit: '× P' } as const
    return ratioRow(facts, samplesOf(samples, `${backend.name} reverse`), P)
  })
  return [...forwards, ...inPages, ...backwards]
}

async function readAll({ persistence, id }: StoredLog, count: number, reverse = false): Promise<void> {
  let events = 0
  for await (const _event of persistence.read(id, { reverse })) events++
  assertCount(events, count)
}

async function readPages({ persistence, id }: StoredLog, count: number): Promise<void> {
  let events = 0
  for await (const page of persistence.readPages(id)) events += page.length
  assertCount(events, count)
}

async function readAtPort({ storage, id }: StoredLog, count: number): Promise<void> {
  const reader = await storage?.openReader(id)
  let events = 0
  try {
    for await (const page of reader?.read({}) ?? []) events += page.length
  } finally {
    await reader?.close()
  }
  assertCount(events, count)
}

/** A backend that loses events must not look fast. */
function assertCount(found: number, expected: number): void {
  if (found !== expected) throw new Error(`the replay gave ${found} events of ${expected}`)
}
