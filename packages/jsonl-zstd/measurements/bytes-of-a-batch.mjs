// Measures what docs/decisions/0008-bytes-of-a-batch.md decides by: of what the bytes of zstd-framed JSONL consist, by
// events a batch and by level of compression, and what shorter commit records or larger sealed frames would save. Needs
// a build, and Node 22.18 or newer, which reads TypeScript, for what no package exports.
//   node packages/jsonl-zstd/measurements/bytes-of-a-batch.mjs
import zlib from 'node:zlib'
import { packRuns } from '@session-persistence/core'
import { deltaLog, messagesLog, takeEvents } from '../../../bench/dist/input/generated-log.js'
import { COMMIT_BYTES } from '../src/commit-record.ts'
import { walkFrame } from '../src/frame-walk.ts'
import { LineWriter } from '../src/record-lines.ts'
import { encodeFrame } from '../src/zstd-frame.ts'

const EVENTS = 10_000
const LEVELS = [1, 3, 6, 12, 19]
const RECORDS = [COMMIT_BYTES, 32, 24]
/** What plain JSONL adds to each line: `,"crc":"0a1b2c3d"`. */
const CHECKSUM_BYTES = 17

if (zlib.zstdCompressSync === undefined) throw new Error('this Node has no Zstandard of its own')

const codecOf = (level) => ({
  name: `level ${level}`,
  compress: (content) =>
    zlib.zstdCompressSync(content, { params: { [zlib.constants.ZSTD_c_compressionLevel]: level } }),
})

async function measure(contents, level, plain) {
  let frames = 0
  let blocks = 0
  const start = process.cpuUsage()
  for (const content of contents) {
    const frame = await encodeFrame(codecOf(level), content)
    const { header } = walkFrame(frame, 0)
    frames += frame.length
    blocks += frame.length - header.blocks - 4
  }
  const { user, system } = process.cpuUsage(start)
  const bytes = contents.reduce((sum, { length }) => sum + length, 0)
  const share = (count) => `${((100 * count) / plain).toFixed(2)} %`
  return {
    level,
    'MB a second of CPU': Number((bytes / (user + system)).toPrecision(2)),
    blocks: share(blocks),
    'header, checksum': share(frames - blocks),
    ...Object.fromEntries(RECORDS.map((size) => [`sum, record ${size}`, share(frames + size * contents.length)])),
  }
}

async function inTurn(contents, plain) {
  const rows = []
  for (const level of LEVELS) rows.push(await measure(contents, level, plain))
  return rows
}

function batches(events, size) {
  const lines = new LineWriter()
  const contents = []
  for (let at = 0; at < events.length; at += size) contents.push(lines.linesOf(packRuns(events.slice(at, at + size))))
  return contents
}

/** As sealing fills frames. */
function sealed(events, size) {
  const lines = new LineWriter()
  const contents = []
  for (const record of packRuns(events)) {
    lines.add(record)
    if (lines.length >= size) contents.push(lines.take())
  }
  if (lines.length > 0) contents.push(lines.take())
  return contents
}

for (const [input, sizes] of [
  [deltaLog, [1, 10, 100]],
  [messagesLog, [10]],
]) {
  const events = takeEvents(input, EVENTS)
  const plain = events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 1 + CHECKSUM_BYTES, 0)
  for (const size of sizes) {
    console.log(`\n${input.name}, ${size} a batch`)
    const contents = batches(events, size)
    console.table(await inTurn(contents, plain))
  }
  for (const kib of [256, 512, 1024]) {
    console.log(`\n${input.name}, sealed in frames of ${kib} KiB`)
    const contents = sealed(events, kib * 1024)
    console.table(await inTurn(contents, plain))
  }
}
