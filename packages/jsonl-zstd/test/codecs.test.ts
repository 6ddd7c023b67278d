// Proves that frames of either codec are standard, checksummed, and read by the other one and by the distribution's own
// tools; and that a machine without a codec says so.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, SAMPLE_TIME, store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { contentChecksum } from '../src/content-checksum.ts'
import { walkFrame } from '../src/frame-walk.ts'
import { chooseCodec, jsonlZstdStorage, type ZstdCodec } from '../src/index.ts'
import { mongodbZstd } from '../src/mongodb-zstd.ts'
import { nodeZstd } from '../src/node-zstd.ts'
import { encodeFrame, encodeRawFrame } from '../src/zstd-frame.ts'
import { logPath } from './parts/frame-log.ts'

function has(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const codecs: readonly ZstdCodec[] = [mongodbZstd(), nodeZstd()].filter((codec) => codec !== undefined)
const SIZES = [
  0,
  1,
  100,
  255,
  256,
  257,
  65_791,
  65_792,
  128 * 1024,
  128 * 1024 + 1,
  1_000_000,
  2 ** 21,
  2 ** 21 + 1,
  5_000_000,
]

/** Half text, half noise. */
function content(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let noise = createHash('sha256').update(String(size)).digest()
  for (let at = 0; at < size; at++) {
    if (at % 64 === 63) noise = createHash('sha256').update(noise).digest()
    bytes[at] = at % 128 < 64 ? 0x20 + (at % 64) : (noise[at % 32] ?? 0)
  }
  return bytes
}

it('there is a codec here, and a name for each', () => {
  expect(codecs.length).toBeGreaterThan(0)
  expect(chooseCodec().name).toBe(codecs.map(({ name }) => name).join(' and '))
  for (const codec of codecs) expect(chooseCodec(codec.name as '@mongodb-js/zstd').name).toBe(codec.name)
  expect(() => chooseCodec('brotli' as 'node:zlib')).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  if (nodeZstd() === undefined) {
    expect(() => chooseCodec('node:zlib')).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
  }
  const own: ZstdCodec = { name: 'own', compress: async (bytes) => bytes, decompress: async (bytes) => bytes }
  expect(chooseCodec(own)).toBe(own)
})

describe.each(codecs)('frames of $name', (codec) => {
  it('declare size and checksum, in the fewest bytes, whatever the size', async () => {
    for (const size of SIZES) {
      const bytes = content(size)
      const frame = await encodeFrame(codec, bytes)
      const walk = walkFrame(frame, 0)
      expect(walk).toMatchObject({ kind: 'frame', end: frame.length, header: { contentSize: size, checksum: true } })
      expect(frame.readUInt32LE(frame.length - 4)).toBe(await contentChecksum(bytes))
      for (const other of codecs) expect((await other.decompress(frame, size)).equals(bytes)).toBe(true)
      const raw = await encodeRawFrame(bytes)
      for (const other of codecs) expect((await other.decompress(raw, size)).equals(bytes)).toBe(true)
    }
  })

  it('are decoded many at once, with skippable frames between them', async () => {
    const contents = SIZES.map(content)
    const skippable = Buffer.from('5d2a4d180400000061626364', 'hex')
    const frames = await Promise.all(contents.map(async (bytes) => [await encodeFrame(codec, bytes), skippable]))
    const all = Buffer.concat(contents)
    for (const other of codecs) {
      expect((await other.decompress(Buffer.concat(frames.flat()), all.length)).equals(all)).toBe(true)
    }
  })

  it('with any bit of the content flipped are refused', async () => {
    const bytes = Buffer.from('a few words of a session, a few words more of a session')
    const frame = await encodeFrame(codec, bytes)
    for (let bit = 8 * 6; bit < 8 * frame.length; bit++) {
      const flipped = Buffer.from(frame)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      for (const other of codecs) {
        const read = await other.decompress(flipped, bytes.length).catch(() => undefined)
        if (read?.equals(bytes) === true) continue
        expect(read?.length).not.toBe(bytes.length)
      }
    }
  })
})

it('the checksum is the low half of XXH64', async () => {
  // Values of the reference implementation.
  expect(await contentChecksum(Buffer.alloc(0))).toBe(0x51d8e999)
  expect(await contentChecksum(Buffer.from('a'))).toBe(0xa98c6e5b)
  expect(await contentChecksum(Buffer.from('abc'))).toBe(0xad770999)
})

describe.skipIf(codecs.length < 2)(
  codecs.length < 2 ? 'logs of both codecs (skipped: this Node has no Zstandard of its own)' : 'logs of both codecs',
  () => {
    it('are read, continued and sealed by the other', async () => {
      for (const [writer, reader] of [codecs, [...codecs].reverse()]) {
        const root = await temporaryDirectory()
        const write = jsonlZstdStorage({ root, ...(writer && { codec: writer }), sealAtClose: false })
        await store(write, 's', SAMPLE_BATCHES)
        const other = jsonlZstdStorage({ root, ...(reader && { codec: reader }), sealAtClose: false })
        expect(await readAll(other, 's')).toEqual(SAMPLE_EVENTS)
        const more = { seq: 12, time: SAMPLE_TIME, type: 'acme/note', data: 1 }
        const appender = await other.openWriter('s', { kind: 'resume' })
        await appender.append([more])
        await appender.close()
        expect(await readAll(write, 's')).toEqual([...SAMPLE_EVENTS, more])
        await other.seal('s')
        expect(await readAll(write, 's')).toEqual([...SAMPLE_EVENTS, more])
      }
    })
  },
)

const tools = has('zstd') && has('jq')
/** jq 1.6 refuses half of a surrogate pair, in any file. */
const WELL_FORMED = SAMPLE_BATCHES.map(
  (batch) => JSON.parse(JSON.stringify(batch).replaceAll('\\ud800', '?')) as typeof batch,
)

describe.skipIf(!tools)(
  tools ? "the distribution's own tools" : "the distribution's own tools (skipped: no zstd or jq here)",
  () => {
    it.each(codecs)('test and print every file of $name, sealed or not', async (codec) => {
      const root = await temporaryDirectory()
      const storage = jsonlZstdStorage({ root, codec, sealAtClose: false })
      await store(storage, 's', WELL_FORMED)
      const path = logPath(root, 's')
      for (const sealed of [false, true]) {
        if (sealed) await storage.seal('s')
        execFileSync('zstd', ['-q', '-t', path])
        const text = execFileSync('sh', ['-c', 'zstd -q -d -c "$1" | jq -c .', 'sh', path], { encoding: 'utf8' })
        const [header = '', ...records] = text.trimEnd().split('\n')
        expect(JSON.parse(header)).toMatchObject({ format: 'session-persistence', version: 1, id: 's' })
        const seqs = records.flatMap((line) => {
          const { seq, v } = JSON.parse(line) as { readonly seq: number; readonly v?: readonly string[] }
          return v === undefined ? [seq] : v.map((_, index) => seq + index)
        })
        expect(seqs).toEqual(SAMPLE_EVENTS.map(({ seq }) => seq))
      }
    })

    it('read large frames within their default memory', async () => {
      const root = await temporaryDirectory()
      const storage = jsonlZstdStorage({ root, durability: 'process' })
      const text = content(3_000_000).toString('latin1')
      await store(storage, 's', [[{ seq: 0, time: SAMPLE_TIME, type: 'acme/note', data: { text } }]])
      execFileSync('zstd', ['-q', '-t', logPath(root, 's')])
      expect((await readAll(storage, 's'))[0]?.data).toEqual({ text })
    })
  },
)
