/** The backends beside other stores for the same work, all in one process of the Node that those need. */
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { execute, runsInChild } from '../child/run-child.ts'
import type { MemoryAnswer } from '../child/task.ts'
import { deltaLog } from '../input/generated-log.ts'
import type { InstalledPeers } from '../peer/install-peers.ts'
import { PEER_NODE, PEERS, type Peer, type PeerName } from '../peer/peer.ts'
import type { PeerSamples, PeerTask, Stored } from '../peer/task.ts'
import { countedRow, plainRow, REFERENCES, type Reference, type Row, ratioRow } from '../report/row.ts'
import { exactly } from '../statistics/estimate.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'

/** The built program: plain Node runs no TypeScript. */
const PROGRAM = fileURLToPath(new URL('../../dist/peer/main.js', import.meta.url))
const BATCHES = [1, 100] as const
/** The peer of D that a backend is held against: of the same kind where there is one. */
const D_OF: { readonly [column: string]: PeerName } = { jsonl: 'D jsonl', 'jsonl-zstd': 'D zstd', sqlite: 'D jsonl' }
/** The peer that reads the long log of the goals: the others of D load it the same way, LangGraph would take minutes. */
const LONG: PeerName = 'D jsonl'
/** LangGraph reads this share of the log; its cost is linear, and is scaled up. */
const LANGGRAPH_SHARE = 0.2

type Module = BenchBackend & Required<Pick<BenchBackend, 'module' | 'openAt'>>
type PeerStored = Extract<Stored, { readonly peer: PeerName }> & { readonly name: PeerName }
type Bare<T extends PeerTask> = T extends PeerTask ? Omit<T, 'directory'> : never

export function peersScenario(installed: InstalledPeers): Scenario {
  return {
    id: 'peers',
    description: `other stores on the same delta events, Node ${PEER_NODE.split('.')[0]} for all: DeepSeek Harness (D) and LangGraph`,
    async run(context) {
      const comparison = new Comparison(context, installed)
      return [...(await comparison.appends()), ...(await comparison.replays()), ...(await comparison.memory())]
    },
  }
}

class Comparison {
  readonly #context: ScenarioContext
  readonly #installed: InstalledPeers
  readonly #backends: readonly Module[]

  constructor(context: ScenarioContext, installed: InstalledPeers) {
    this.#context = context
    this.#installed = installed
    this.#backends = context.backends.filter((backend): backend is Module => runsInChild(backend))
  }

  async appends(): Promise<readonly Row[]> {
    const rows: Row[] = []
    const { rounds, warmUp } = this.#context.plan()
    for (const events of BATCHES) {
      this.#context.progress(`peers: append, ${events} a flush`)
      const place = this.#directory(`peers-append-${events}`)
      const samples = await this.#ask<PeerSamples>({
        kind: 'append',
        modules: this.#backends.map(({ module }) => module),
        peers: PEERS.map(({ name }) => name),
        place,
        eventsPerFlush: events,
        flushes: Math.ceil((this.#context.scale.flushes[events] ?? 1) / 2),
        rounds,
        warmUp,
      })
      const id = `peers/append-${events}`
      const title = `append, ${events === 1 ? '1 event' : `${events} events`} a flush, beside peers`
      rows.push(...this.#beside({ id, title, unit: '× S' }, samples, 'S', PEERS, { unit: 'µs', per: 1 }))
      if (events !== 1) continue
      const ahead = { id: 'ahead/append', title: 'single appends, of those of D' } as const
      // What the medium allows: whoever syncs each append cannot be further ahead.
      const limit = { ...ahead, backend: REFERENCES.S, through: 'none', unit: '× D' } as const
      rows.push(ratioRow(limit, samples.S ?? [], samples['D jsonl'] ?? [], { unit: 'ms', per: 1 }))
      rows.push(...this.#ahead(ahead.id, ahead.title, samples))
    }
    return rows
  }

  async replays(): Promise<readonly Row[]> {
    const { deltaEvents } = this.#context.scale
    const { rounds, warmUp } = this.#context.plan('long')
    const { file, bytes: lines } = this.#context.parseFile(deltaLog, deltaEvents)
    const peers = await this.#fill(PEERS, deltaEvents)
    const ours = await this.#stored(deltaEvents)
    this.#context.progress('peers: replay')
    const samples = await this.#ask<PeerSamples>({
      kind: 'replay',
      subjects: [...ours.map(({ stored }) => stored), ...peers],
      parseFile: file,
      events: deltaEvents,
      rounds,
      warmUp,
    })
    const sizes = new Map([
      ...ours.map(({ stored, bytes }) => [stored.name, bytes] as const),
      ...peers.map(({ name, place, events }) => [name, bytesBelow(place) * (deltaEvents / events)] as const),
    ])
    const sizeRow = (of: BenchBackend | Reference, name: string): Row => {
      const facts = { id: 'peers/size', title: 'bytes stored, beside peers', backend: of, unit: '× JSONL' } as const
      const bytes = sizes.get(name) ?? Number.NaN
      const absolute = { value: exactly(bytes / deltaEvents), unit: 'bytes/event' } as const
      return { ...countedRow({ ...facts, through: 'reference' in of ? 'none' : 'session' }, bytes / lines), absolute }
    }
    return [
      ...this.#beside({ id: 'peers/replay', title: 'full replay, beside peers', unit: '× P' }, samples, 'P', PEERS),
      ...this.#ahead('ahead/replay', 'full replay, of that of D', samples),
      ...PEERS.map((peer) => sizeRow(peer, peer.name)),
      ...this.#backends.map((backend) => sizeRow(backend, backend.name)),
      ...this.#backends.flatMap((backend) => {
        const D = sizes.get(peerFor(backend) ?? '')
        const bytes = sizes.get(backend.name)
        if (D === undefined || bytes === undefined) return []
        const facts = { id: 'ahead/size', title: 'bytes stored, of those of D', backend, through: 'session' } as const
        return [countedRow({ ...facts, unit: '× D' }, bytes / D)]
      }),
    ]
  }

  /** Peaks above a process that has only opened the store; one process a sample. */
  async memory(): Promise<readonly Row[]> {
    const { longEvents, processes } = this.#context.scale
    const peers = await this.#fill(PEERS.filter(isLong), longEvents)
    const ours = (await this.#stored(longEvents)).map(({ stored }) => stored)
    const above: { [name: string]: number[] } = {}
    for (let round = 0; round < processes - 1; round++) {
      this.#context.progress(`peers: memory, ${round + 1} of ${processes - 1}`)
      for (const subject of [...ours, ...peers]) {
        const peak = async (reads: boolean): Promise<number> =>
          (await this.#ask<MemoryAnswer>({ kind: 'memory', subject, reads })).peakBytes
        above[subject.name] = [...(above[subject.name] ?? []), (await peak(true)) - (await peak(false))]
      }
    }
    const title = `memory above idle, read ${longEvents.toLocaleString('en-US')} events, beside peers`
    const row = (of: BenchBackend | Peer): Row =>
      plainRow(
        { id: 'peers/memory', title, backend: of, through: 'reference' in of ? 'none' : 'session', unit: 'bytes' },
        above[of.name] ?? [],
      )
    return [
      ...PEERS.filter(isLong).map(row),
      ...this.#backends.map(row),
      ...this.#ahead('ahead/memory', 'memory to read a long log, of that of D', above, 'MB', () => LONG),
    ]
  }

  #beside(
    facts: { readonly id: string; readonly title: string; readonly unit: '× S' | '× P' },
    samples: PeerSamples,
    reference: 'S' | 'P',
    peers: readonly Peer[],
    absolute: { readonly unit: 'µs' | 'ms'; readonly per: number } = { unit: 'ms', per: 1 },
  ): readonly Row[] {
    const row = (of: BenchBackend | Reference, name: string): Row =>
      ratioRow(
        { ...facts, backend: of, through: 'reference' in of ? 'none' : 'session' },
        samples[name] ?? [],
        samples[reference] ?? [],
        absolute,
      )
    return [
      row(REFERENCES[reference], reference),
      ...peers.map((peer) => row(peer, peer.name)),
      ...this.#backends.map((backend) => row(backend, backend.name)),
    ]
  }

  #ahead(
    id: string,
    title: string,
    samples: PeerSamples,
    unit: 'ms' | 'MB' = 'ms',
    peerOf: (backend: BenchBackend) => PeerName | undefined = peerFor,
  ): readonly Row[] {
    return this.#backends.flatMap((backend) => {
      const D = samples[peerOf(backend) ?? '']
      if (D === undefined) return []
      const facts = { id, title, backend, through: 'session', unit: '× D' } as const
      return [ratioRow(facts, samples[backend.name] ?? [], D, { unit, per: 1 })]
    })
  }

  async #stored(count: number): Promise<readonly { readonly stored: Stored; readonly bytes: number }[]> {
    const found: { readonly stored: Stored; readonly bytes: number }[] = []
    for (const backend of this.#backends) {
      const { id, medium, bytes } = await this.#context.stored(backend, deltaLog, count)
      const { location } = medium
      if (location === undefined) continue
      found.push({ stored: { name: backend.name, module: backend.module, location, id, events: count }, bytes })
    }
    return found
  }

  async #fill(peers: readonly Peer[], events: number): Promise<readonly PeerStored[]> {
    const filled: PeerStored[] = []
    for (const { name } of peers) {
      this.#context.progress(`peers: storing ${events.toLocaleString('en-US')} delta events in ${name}`)
      const place = this.#directory(`peers-${name.replaceAll(' ', '-')}-${events}`)
      const stored = name === 'langgraph' ? events * LANGGRAPH_SHARE : events
      await this.#ask({ kind: 'fill', peer: name, place, events: stored })
      filled.push({ name, peer: name, place, events: stored })
    }
    return filled
  }

  #directory(name: string): string {
    const place = path.join(this.#context.directory, name)
    fs.rmSync(place, { recursive: true, force: true })
    fs.mkdirSync(place)
    this.#context.defer(() => fs.rmSync(place, { recursive: true, force: true }))
    return place
  }

  async #ask<Answer>(task: Bare<PeerTask>): Promise<Answer> {
    const { node, directory } = this.#installed
    const { signal } = this.#context
    return JSON.parse(await execute(node, [PROGRAM, JSON.stringify({ ...task, directory })], {}, signal)) as Answer
  }
}

function isLong({ name }: Peer): boolean {
  return name === LONG
}

function peerFor({ column }: BenchBackend): PeerName | undefined {
  return column === undefined ? undefined : D_OF[column]
}

/** Bytes of all files, as `ls` counts them. */
function bytesBelow(place: string): number {
  return fs
    .readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0)
}
