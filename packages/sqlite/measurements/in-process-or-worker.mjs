// Measures what docs/decisions/0006-sqlite-in-process.md decides by: the latency of an append and the delay of the event
// loop, with SQLite called in the process itself and in a worker thread, in turns. Needs a build.
//   node packages/sqlite/measurements/in-process-or-worker.mjs [directory]
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { sqliteStorage } from '../dist/index.js'

const header = { version: 1, id: 's', createdAt: 1, messageFormat: 'plain' }
const chunk = (seq) => ({
  seq,
  time: 1_700_000_000_000 + seq,
  type: 'assistant/chunk',
  data: { turn: 1, step: 1, kind: 'text', index: 0, text: ` word ${seq}` },
})

async function openLog(file) {
  const storage = sqliteStorage({ file })
  const writer = await storage.openWriter('s', { kind: 'create', header })
  return {
    append: (events) => writer.append(events),
    close: async () => {
      await writer.close()
      await storage.close()
    },
  }
}

/** The same behind a worker thread: events go over as a structured clone, an answer comes back. */
async function openLogInWorker(file) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { file } })
  const waiting = []
  worker.on('message', () => waiting.shift()?.())
  const ask = (message) =>
    new Promise((resolve) => {
      waiting.push(resolve)
      worker.postMessage(message)
    })
  await ask([])
  return {
    append: ask,
    close: async () => {
      await ask('close')
      await worker.terminate()
    },
  }
}

async function workerLoop() {
  const log = await openLog(workerData.file)
  parentPort.on('message', async (message) => {
    if (message === 'close') await log.close()
    else await log.append(message)
    parentPort.postMessage('done')
  })
}

const quantile = (values, q) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]
const round = (value) => Number(value.toFixed(3))

function bareSyncs(directory, count) {
  const descriptor = openSync(join(directory, `bare-${performance.now()}`), 'w')
  const bytes = Buffer.alloc(190, 97)
  const times = []
  for (let at = 0; at < count; at++) {
    const start = performance.now()
    writeSync(descriptor, bytes)
    fdatasyncSync(descriptor)
    times.push(performance.now() - start)
  }
  closeSync(descriptor)
  return times
}

async function latencies(directory) {
  const logs = [await openLog(join(directory, 'a.db')), await openLogInWorker(join(directory, 'b.db'))]
  const ratios = [[], []]
  const all = [[], [], []]
  let seq = 0
  for (let turn = 0; turn < 31; turn++) {
    const bare = bareSyncs(directory, 50)
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
    for (const which of turn % 2 === 0 ? [0, 1] : [1, 0]) {
      const times = []
      for (let at = 0; at < 50; at++) {
        const events = [chunk(seq + at)]
        const start = performance.now()
        await logs[which].append(events)
        times.push(performance.now() - start)
      }
      // The first thousand commits are the start of a log, not its steady state.
      if (turn > 10) {
        ratios[which].push(mean(times) / mean(bare))
        all[which].push(...times)
      }
    }
    all[2].push(...bare)
    seq += 50
  }
  for (const log of logs) await log.close()
  const row = (values) => ({ 'median ms': round(quantile(values, 0.5)), 'p99 ms': round(quantile(values, 0.99)) })
  console.table({
    'bare write + fdatasync (S)': row(all[2]),
    'in process': { ...row(all[0]), 'of S, median of rounds': round(quantile(ratios[0], 0.5)) },
    worker: { ...row(all[1]), 'of S, median of rounds': round(quantile(ratios[1], 0.5)) },
  })
}

/** 500 events a second, flushed every 10 events: what a streaming answer does, with a checkpoint fifty times a second. */
async function eventLoopDelay(open, directory, name, seconds = 10) {
  const log = open === undefined ? undefined : await open(join(directory, `${name}.db`))
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  let seq = 0
  monitor.enable()
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    await delay(20)
    const events = Array.from({ length: 10 }, (_, at) => chunk(seq + at))
    await log?.append(events)
    seq += 10
  }
  monitor.disable()
  await log?.close()
  const ms = (value) => round(value / 1e6)
  return { 'p50 ms': ms(monitor.percentile(50)), 'p99 ms': ms(monitor.percentile(99)), 'max ms': ms(monitor.max) }
}

if (isMainThread) {
  const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'in-process-or-worker-'))
  try {
    await latencies(directory)
    console.table({
      'no log at all': await eventLoopDelay(undefined, directory, 'c'),
      'in process': await eventLoopDelay(openLog, directory, 'd'),
      worker: await eventLoopDelay(openLogInWorker, directory, 'e'),
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
} else {
  await workerLoop()
}
