/** The logs that every version must read for ever (fixtures/README.md). Header and events are those of the plain logs. */
import type { AnySessionEvent } from '@session-persistence/core'
import { BATCHES, type GoldenDecode, type GoldenLog, HEADER } from '../../jsonl/test/golden-logs.ts'
import { type FrameCodecOptions, frameCodec } from '../src/index.ts'

const SALT = 0x9f86d081

/** The header unit, then a unit for each batch. */
async function encoded(options: FrameCodecOptions = {}): Promise<readonly Buffer[]> {
  const { bytes, dialect } = await frameCodec({ ...options, newSalt: () => SALT }).create(HEADER)
  const parts = [bytes]
  let length = bytes.length
  for (const batch of BATCHES) {
    const part = await dialect.encodeBatch(batch, length)
    parts.push(part)
    length += part.length
  }
  return parts
}

async function sealed(): Promise<Buffer> {
  const { bytes, dialect } = await frameCodec({ newSalt: () => SALT }).create(HEADER)
  const pages = async function* (): AsyncGenerator<readonly AnySessionEvent[]> {
    yield* BATCHES
  }
  const parts = [bytes]
  for await (const part of dialect.sealing?.merge(pages(), bytes.length) ?? []) parts.push(part)
  return Buffer.concat(parts)
}

/** Every golden log, as today's encoder writes it. */
export async function goldenLogs(): Promise<readonly GoldenLog[]> {
  const events = BATCHES.flat()
  const parts = await encoded()
  const clean = Buffer.concat(parts)
  const lastBatch = clean.length - (parts.at(-1)?.length ?? 0)
  const kept = BATCHES.slice(0, -1).flat()
  const zeroed = Buffer.concat([clean, Buffer.alloc(700)])
  const third = parts.slice(0, 3).reduce((sum, part) => sum + part.length, 0)
  const flipped = Buffer.from(clean)
  flipped.writeUInt8((flipped[third + 20] ?? 0) ^ 1, third + 20)
  const torn = (length: number): GoldenDecode => ({
    header: HEADER,
    events: kept,
    torn: { offset: lastBatch, bytes: length - lastBatch },
  })
  return [
    { name: 'clean', bytes: clean, expected: { header: HEADER, events } },
    { name: 'sealed', bytes: await sealed(), expected: { header: HEADER, events } },
    { name: 'torn-cut', bytes: clean.subarray(0, -50), expected: torn(clean.length - 50) },
    { name: 'torn-no-record', bytes: clean.subarray(0, -44), expected: torn(clean.length - 44) },
    {
      name: 'torn-zeros',
      bytes: zeroed,
      expected: { header: HEADER, events, torn: { offset: clean.length, bytes: 700 } },
    },
    {
      name: 'corrupt',
      bytes: flipped,
      expected: { header: HEADER, events: events.slice(0, 3), corrupt: { offset: third, seq: 3 } },
    },
  ]
}
