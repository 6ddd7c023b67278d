// `npm run docs:figures [-- --from run.json]`: one full run of the bench, and every number in README and docs from it:
// the table of docs/bench.md, the charts beside it, the comparison of docs/choosing.md, the lines of the README. Run it on
// a machine that does nothing else. `--from` takes a report that an earlier run kept, and measures nothing.
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setUp } from './setup.mjs'
import { root } from './workspace.mjs'

/**
 * @typedef {{ readonly median: number }} Estimate
 * @typedef {object} Row
 * @property {string} id
 * @property {string} backend
 * @property {string} through
 * @property {Estimate} measured
 * @property {{ readonly value: Estimate, readonly unit: string }} [absolute]
 * @property {Estimate} [reference]
 *
 * @typedef {object} Report
 * @property {string} startedAt
 * @property {boolean} partial
 * @property {string} scale
 * @property {{ node: string, platform: string, cpu: string, cpus: number, load: number, fileSystem?: string, sync: { syncMs: Estimate } }} machine
 * @property {readonly { name: string, description: { capabilities: { durability: string }, modes: Record<string, string> } }[]} backends
 * @property {readonly Row[]} rows
 */

const page = {
  file: join(root, 'docs', 'choosing.md'),
  begin: '<!-- figures: written by `npm run docs:figures` -->',
  end: '<!-- end of figures -->',
}
const readme = { file: join(root, 'README.md'), begin: page.begin, end: page.end }
/** Events of the logs that a full run replays: scenario/scale.ts of the bench. */
const deltaEvents = 100_000
const messageEvents = 20_000
/** Those that docs/bench.md shows. */
const charts = ['append-1.svg', 'append-100.svg', 'replay-delta.svg', 'size-delta-100.svg']
const shown = ['jsonl', 'jsonl-packed', 'jsonl-zstd', 'sqlite', 'memory']

/** @param {number} value */
function figure(value) {
  const digits = value >= 100 ? Number(value.toPrecision(3)).toFixed(0) : value.toPrecision(3)
  return digits.includes('.') ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ',')
}

/** @param {Report} report */
function lookUp({ rows }) {
  /** @param {string} id @param {string} backend @param {string} [through] */
  return (id, backend, through = 'session') =>
    rows.find((row) => row.id === id && row.backend === backend && row.through === through)
}

/** A figure from a row, or a dash where it was not measured. @param {Row | undefined} row @param {(row: Row) => number} of */
const from = (row, of, unit = '') => (row === undefined ? '–' : `${figure(of(row))}${unit}`)

/** @param {Row} row */
const absolute = (row) => row.absolute?.value.median ?? Number.NaN

/** @param {Report} report */
function facts({ machine, startedAt }) {
  const syncMs = machine.sync.syncMs.median
  return [
    `Medians of one full run of \`npm run bench\`, ${startedAt.slice(0, 10)}, on a generated log of a streaming harness (96 % small deltas).`,
    `Node ${machine.node.slice(1)}, ${machine.platform}, ${machine.cpu}, ${machine.cpus} cores, ${machine.fileSystem ?? 'unknown file system'}, load of the last minute ${figure(machine.load)};`,
    `a bare write of 200 bytes with its sync took ${figure(syncMs)} ms, which bounds appends of one event at ${figure(1000 / syncMs)} a second.`,
  ].join('\n')
}

/** @param {Report} report */
function comparison(report) {
  const row = lookUp(report)
  const names = shown.filter((name) => report.backends.some((backend) => backend.name === name))
  const described = (/** @type {string} */ name) =>
    report.backends.find((backend) => backend.name === name)?.description
  /** @param {string} name */
  const survives = (name) => {
    const durability = described(name)?.capabilities.durability
    return durability === 'power' ? 'power loss' : durability === 'process' ? 'the death of the process' : 'nothing'
  }
  /** @param {string} name */
  const modes = (name) =>
    Object.entries(described(name)?.modes ?? {})
      .map(([mode, is]) => `${mode} ${is}`)
      .join(', ') || '–'
  /** @type {readonly [string, (backend: string) => string][]} */
  const lines = [
    ['an acknowledged event survives', survives],
    ['append, 1 event a flush, events/s', (name) => from(row('append/1', name), (one) => 1e6 / absolute(one))],
    ['append, 100 a flush, events/s', (name) => from(row('append/100', name), (one) => 1e8 / absolute(one))],
    ['append, 1,000 a flush, events/s', (name) => from(row('append/1000', name), (one) => 1e9 / absolute(one))],
    [
      'read of a whole log of deltas, events/s',
      (name) => from(row('replay/delta', name), (one) => (deltaEvents * 1000) / absolute(one)),
    ],
    [
      'read of a whole log of messages, events/s',
      (name) => from(row('replay/messages', name), (one) => (messageEvents * 1000) / absolute(one)),
    ],
    ['resume of 100,000 events, cold, ms', (name) => from(row('resume/cold', name), absolute)],
    ['last 50 of 1,000,000 events, ms', (name) => from(row('suffix/50', name), (one) => one.measured.median)],
    ['first page of 10,000 sessions, ms', (name) => from(row('list/page', name), absolute)],
    ['create, first event durable, ms', (name) => from(row('create', name), (one) => absolute(one) / 1000)],
    [
      'bytes stored, deltas, 100 a flush, of JSON lines',
      (name) => from(row('size/delta/100', name), (one) => one.measured.median * 100, ' %'),
    ],
    [
      'the same, sealed or compacted',
      (name) => from(row('size/delta/sealed', name), (one) => one.measured.median * 100, ' %'),
    ],
    [
      'memory to read 1,000,000 events, MB',
      (name) => from(row('memory/stream', name), (one) => one.measured.median / 1e6),
    ],
    ['modes', modes],
  ]
  return [
    `| | ${names.map((name) => `\`${name}\``).join(' | ')} |`,
    `|---|${names.map(() => '---').join('|')}|`,
    ...lines.map(([what, value]) => `| ${what} | ${names.map(value).join(' | ')} |`),
  ].join('\n')
}

/** A few lines for those who read no further. @param {Report} report */
function summary(report) {
  const row = lookUp(report)
  const names = ['jsonl', 'jsonl-zstd', 'sqlite'].filter((name) => row('append/1', name) !== undefined)
  /** @param {string} id @param {string} unit @param {(row: Row) => number} of */
  const each = (id, unit, of) => names.map((name) => from(row(id, name), of, unit))
  const ratio = (/** @type {Row} */ one) => one.measured.median
  const lines = [
    ['one durable append, of a bare write and sync', ...each('append/1', ' ×', ratio)],
    ['read of a whole log, of `readFile` and `JSON.parse`', ...each('replay/delta', ' ×', ratio)],
    ['last 50 of 1,000,000 events', ...each('suffix/50', ' ms', ratio)],
    ['bytes of 100 deltas a flush, of JSON lines', ...each('size/delta/100', ' %', (one) => ratio(one) * 100)],
    ['memory to read 1,000,000 events', ...each('memory/stream', ' MB', (one) => ratio(one) / 1e6)],
  ]
  return [
    `| | ${names.map((name) => `\`${name}\``).join(' | ')} |`,
    `|---|${names.map(() => '---').join('|')}|`,
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    'Every number, what it is held against, and how to measure yours: [docs/bench.md](docs/bench.md).',
  ].join('\n')
}

/** @param {{ file: string, begin: string, end: string }} place @param {string} block */
function write({ file, begin, end }, block) {
  const [before, rest] = readFileSync(file, 'utf8').split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${file} lacks the marks around the figures`)
  writeFileSync(file, `${before}${begin}\n\n${block}\n\n${end}${after}`)
}

/** @param {readonly string[]} args @param {'inherit' | 'ignore'} [output] */
function bench(args, output = 'inherit') {
  const program = join(root, 'bench', 'dist', 'main.js')
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: ['ignore', output, 'inherit'] })
  if (status !== 0) throw new Error('the run is partial: nothing was written')
}

const { values } = parseArgs({ options: { from: { type: 'string' } } })
await setUp()
const kept = values.from ?? join(root, 'bench-report.json')
if (values.from === undefined) bench(['--peers', '--json', kept])
/** @type {Report} */
const report = JSON.parse(readFileSync(kept, 'utf8'))
if (report.partial || report.scale !== 'full') throw new Error('figures come from a full run that is whole')
const drawn = join(root, 'bench-report.charts')
bench(['--from', kept, '--markdown', join(root, 'docs', 'bench.md'), '--svg', drawn], 'ignore')
bench(['--from', kept, '--html', join(root, 'bench-report.html')], 'ignore')
for (const chart of charts) cpSync(join(drawn, chart), join(root, 'docs', 'charts', chart))
rmSync(drawn, { recursive: true })
write(page, `${facts(report)}\n\n${comparison(report)}`)
write(readme, `${facts(report)}\n\n${summary(report)}`)
