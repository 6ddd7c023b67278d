// `npm run docs:figures [-- ROUNDS]`: measures every backend on one log and writes the figures of docs/choosing.md.
// What people compare must come from one run on one machine, so every round measures all of them, and the page gets the
// medians with the facts that they depend on.
import { execFile } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { setUp } from './setup.mjs'
import { root } from './workspace.mjs'

const page = join(root, 'docs', 'choosing.md')
const start = '<!-- figures: written by `npm run docs:figures` -->'
const end = '<!-- end of figures -->'
const eventCount = 20_000

/**
 * @typedef {{ readonly perSecond: number }} Rate
 * @typedef {object} Measurement
 * @property {string} backend
 * @property {string} durability
 * @property {{ readonly [mode: string]: string }} modes
 * @property {Rate | undefined} appendEach
 * @property {Rate | undefined} appendHundred
 * @property {Rate} store
 * @property {Rate} replay
 * @property {number} lastHundredMs
 * @property {number} bytes
 */

/** @param {readonly number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** @param {number} value */
function figure(value) {
  const digits = value >= 100 ? Number(value.toPrecision(3)).toFixed(0) : value.toPrecision(3)
  return digits.includes('.') ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Milliseconds of a small write and its sync, the least that a durable append can take. @param {string} directory */
function bareSyncMs(directory) {
  const file = openSync(join(directory, 'probe'), 'wx', 0o600)
  try {
    const bytes = Buffer.alloc(200, 'a')
    const times = Array.from({ length: 101 }, () => {
      const before = performance.now()
      writeSync(file, bytes)
      fdatasyncSync(file)
      return performance.now() - before
    })
    return median(times)
  } finally {
    closeSync(file)
  }
}

/** The log of a streaming harness as a file that the tour reads. @param {string} directory */
async function writeLog(directory) {
  /** @param {string[]} parts */
  const built = (...parts) => import(pathToFileURL(join(root, ...parts)).href)
  const { deltaLog, takeEvents } = await built('bench', 'dist', 'input', 'generated-log.js')
  const { writeCanonical } = await built('packages', 'interchange', 'dist', 'index.js')
  const { FORMAT_VERSION } = await built('packages', 'core', 'dist', 'index.js')
  const events = takeEvents(deltaLog, eventCount)
  const header = { version: FORMAT_VERSION, id: 'figures', createdAt: events[0].time, messageFormat: 'plain' }
  let text = ''
  for await (const chunk of writeCanonical({ header, events: [events] })) text += chunk
  const file = join(directory, 'log.jsonl')
  writeFileSync(file, text)
  return file
}

/** @param {string} file */
async function tour(file) {
  const main = join(root, 'packages', 'cli', 'dist', 'main.js')
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'tour', file, '--json'], { maxBuffer: 2 ** 28 })
  const { log, backends } = JSON.parse(stdout)
  if (log.events !== eventCount) throw new Error(`the tour read ${log.events} events`)
  /** @type {{ kind: string, backend?: string, reason?: string, measurement?: Measurement }[]} */
  const results = backends
  /** @type {readonly Measurement[]} */
  const measured = results.flatMap(({ measurement }) => (measurement === undefined ? [] : [measurement]))
  if (measured.length < results.length) throw new Error('a backend is not available here; figures must show them all')
  return { jsonBytes: Number(log.jsonBytes), measured }
}

/** @param {readonly (readonly Measurement[])[]} rounds @param {number} jsonBytes */
function table(rounds, jsonBytes) {
  const backends = (rounds[0] ?? []).map(({ backend }) => backend)
  /** @param {string} backend */
  const of = (backend) => rounds.map((round) => round.find((each) => each.backend === backend))
  /** @param {string} backend @param {(each: Measurement) => number | undefined} pick */
  const middle = (backend, pick) => median(of(backend).map((each) => (each && pick(each)) ?? Number.NaN))
  /** @type {readonly [string, (backend: string) => string][]} */
  const rows = [
    ['an acknowledged event survives', (backend) => survives(of(backend)[0]?.durability)],
    ['append, 1 event a flush, events/s', (backend) => figure(middle(backend, (each) => each.appendEach?.perSecond))],
    ['append, 100 a flush, events/s', (backend) => figure(middle(backend, (each) => each.appendHundred?.perSecond))],
    ['import of the whole log, events/s', (backend) => figure(middle(backend, (each) => each.store.perSecond))],
    ['read of the whole log, events/s', (backend) => figure(middle(backend, (each) => each.replay.perSecond))],
    ['read of the last 100 events, ms', (backend) => figure(middle(backend, (each) => each.lastHundredMs))],
    ['bytes stored, of unpacked JSON lines', (backend) => share(middle(backend, (each) => each.bytes) / jsonBytes)],
    [
      'modes',
      (backend) =>
        Object.entries(of(backend)[0]?.modes ?? {})
          .map(([mode, is]) => `${mode} ${is}`)
          .join(', ') || '–',
    ],
  ]
  return [
    `| | ${backends.map((backend) => `\`${backend}\``).join(' | ')} |`,
    `|---|${backends.map(() => '---').join('|')}|`,
    ...rows.map(([what, value]) => `| ${what} | ${backends.map(value).join(' | ')} |`),
  ].join('\n')
}

/** @param {string | undefined} durability */
function survives(durability) {
  return durability === 'power' ? 'power loss' : durability === 'process' ? 'the death of the process' : 'nothing'
}

/** @param {number} ratio */
function share(ratio) {
  return ratio === 0 ? 'none' : `${figure(ratio * 100)} %`
}

async function main() {
  const rounds = Number(process.argv[2] ?? 5)
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error('give a number of rounds, or nothing')
  await setUp()
  const directory = await mkdtemp(join(tmpdir(), 'session-persistence-figures-'))
  try {
    const file = await writeLog(directory)
    const syncMs = bareSyncMs(directory)
    const results = []
    for (let round = 0; round < rounds; round++) {
      results.push(await tour(file))
      console.log(`round ${round + 1} of ${rounds}`)
    }
    const jsonBytes = results[0]?.jsonBytes ?? 0
    const facts = [
      `Medians of ${rounds} rounds, each with every backend one after the other, on ${figure(eventCount)} events of a streaming`,
      `harness (96 % small deltas, ${figure(jsonBytes / 1e6)} MB as JSON lines). Node ${process.versions.node}, ${process.platform} ${process.arch},`,
      `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} cores, ${figure(totalmem() / 2 ** 30)} GiB, load of the last minute ${figure(loadavg()[0] ?? 0)};`,
      `a bare write of 200 bytes with its sync took ${figure(syncMs)} ms, which bounds appends of one event at ${figure(1000 / syncMs)} a second.`,
    ].join('\n')
    const text = readFileSync(page, 'utf8')
    const [before, rest] = text.split(start)
    const after = rest?.split(end)[1]
    if (before === undefined || after === undefined) throw new Error(`${page} lacks the marks around the figures`)
    const block = [
      start,
      facts,
      table(
        results.map(({ measured }) => measured),
        jsonBytes,
      ),
      end,
    ].join('\n\n')
    writeFileSync(page, before + block + after)
  } finally {
    await rm(directory, { recursive: true })
  }
}

await main()
