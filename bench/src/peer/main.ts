/** Backends and peers in one process of the Node that the peers need: `node main.js TASK`, answer on standard output. */
import fs from 'node:fs'
import module, { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BenchBackend } from '../backend/bench-backend.ts'
import { peakMemory } from '../child/peak-memory.ts'
import { deltaLog, eventPages } from '../input/generated-log.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave } from '../measure/interleave.ts'
import { BareAppend, jsonLines } from '../reference/bare-append.ts'
import { parseFile } from '../reference/bare-replay.ts'
import { RoundInputs, sessionCase } from '../scenario/append-inputs.ts'
import { OPEN_PEER } from './open-peer.ts'
import type { PeerLog, PeerName } from './peer.ts'
import type { AppendTask, PeerSamples, PeerTask, ReplayTask, Stored } from './task.ts'

/** Events a batch of a stored log of a peer: more than its own harness would ever flush at once. */
const FILL_BATCH = 1000
/** An addon that is built for one Node line: the peers' directory holds the one for this process. */
const ADDON = 'better-sqlite3'

type Resolve = (specifier: string, context: object, next: (specifier: string, context: object) => unknown) => unknown

/** From Node 22.15; the types that this is built with are older. */
function useAddonOf(directory: string): void {
  const { registerHooks } = module as unknown as { readonly registerHooks?: (hooks: { resolve: Resolve }) => void }
  const url = pathToFileURL(createRequire(path.join(directory, 'package.json')).resolve(ADDON)).href
  registerHooks?.({
    resolve: (specifier, context, next) =>
      specifier === ADDON ? { url, format: 'commonjs', shortCircuit: true } : next(specifier, context),
  })
}

/** The packages of the peers are modules, or load as such. */
function loaderFor(directory: string): (name: string) => Promise<unknown> {
  const { resolve } = createRequire(path.join(directory, 'package.json'))
  return async (name) => await import(pathToFileURL(resolve(name)).href)
}

async function openPeer(task: PeerTask, peer: PeerName, place: string): Promise<PeerLog> {
  fs.mkdirSync(place, { recursive: true })
  return OPEN_PEER[peer](place, loaderFor(task.directory))
}

async function harnessOf(url: string): Promise<BenchBackend> {
  return ((await import(url)) as { readonly harness: BenchBackend }).harness
}

async function append(task: PeerTask & AppendTask): Promise<PeerSamples> {
  const { eventsPerFlush, flushes, rounds, warmUp, place } = task
  const inputs = new RoundInputs(deltaLog, rounds + warmUp, flushes, eventsPerFlush)
  const bare = new BareAppend(path.join(place, 'bare'))
  const cases: Case[] = [
    {
      name: 'S',
      sample: (round) => {
        const ready = inputs.round(round).map((batch) => Buffer.from(jsonLines(batch)))
        return (
          elapsedSync(() => {
            for (const bytes of ready) bare.prepared(bytes)
          }) / flushes
        )
      },
    },
  ]
  const cleanups: (() => PromiseLike<void> | void)[] = [() => bare.close()]
  for (const url of task.modules) {
    const backend = await harnessOf(url)
    const medium = await backend.createMedium()
    const persistence = await medium.open()
    cleanups.push(async () => {
      await persistence.close()
      await medium.destroy?.()
    })
    cases.push(await sessionCase(backend.name, persistence, inputs, flushes))
  }
  for (const peer of task.peers) {
    const log = await openPeer(task, peer, path.join(place, peer.replaceAll(' ', '-')))
    cleanups.push(() => log.close())
    cases.push({
      name: peer,
      sample: async (round) => {
        const batches = inputs.round(round)
        const ms = await elapsed(async () => {
          for (const batch of batches) await log.append(batch)
        })
        return ms / flushes
      },
    })
  }
  const samples = await interleave(cases, { rounds, warmUp })
  for (const cleanup of cleanups) await cleanup()
  return Object.fromEntries(samples)
}

/** Reads a whole stored log, as often as it is called: in pages, since D hands out arrays, too. */
async function readerOf(task: PeerTask, stored: Stored): Promise<() => Promise<number>> {
  if ('peer' in stored) {
    const log = await openPeer(task, stored.peer, stored.place)
    return () => log.replay()
  }
  const persistence = await (await harnessOf(stored.module)).openAt?.(stored.location)
  if (persistence === undefined) throw new Error(`${stored.name} has no openAt`)
  return async () => {
    let events = 0
    for await (const page of persistence.readPages(stored.id)) events += page.length
    return events
  }
}

async function replay(task: PeerTask & ReplayTask): Promise<PeerSamples> {
  const { subjects, rounds, warmUp, events } = task
  const cases: Case[] = [{ name: 'P', sample: () => elapsed(() => parseFile(task.parseFile)) }]
  for (const stored of subjects) {
    const read = await readerOf(task, stored)
    cases.push({
      name: stored.name,
      sample: async () => {
        const ms = await elapsed(async () => {
          const found = await read()
          // A peer may close an open turn when it reads.
          if (found < stored.events) throw new Error(`${stored.name} gave ${found} events of ${stored.events}`)
        })
        return (ms * events) / stored.events
      },
    })
  }
  return Object.fromEntries(await interleave(cases, { rounds, warmUp }))
}

async function answer(task: PeerTask): Promise<unknown> {
  switch (task.kind) {
    case 'append':
      return append(task)
    case 'replay':
      return replay(task)
    case 'fill': {
      const log = await openPeer(task, task.peer, task.place)
      for (const page of eventPages(deltaLog, task.events, FILL_BATCH)) await log.append(page)
      await log.close()
      return null
    }
    case 'memory': {
      const read = await readerOf(task, task.subject)
      if (task.reads) await read()
      return { peakBytes: peakMemory() }
    }
  }
}

const task = JSON.parse(process.argv[2] ?? 'null') as PeerTask
useAddonOf(task.directory)
const text = JSON.stringify(await answer(task))
// What a peer keeps open must not keep the process.
process.stdout.write(text, () => process.exit(0))
