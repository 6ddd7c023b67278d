/** The logs that every version must read for ever (fixtures/README.md). */
import type { AnySessionEvent, SessionHeader } from '@session-persistence/core'
import { type LineCodecOptions, lineCodec } from '../src/index.ts'

const TIME = 1_700_000_000_000

export const HEADER: SessionHeader = {
  version: 1,
  id: 'golden/Ü 1',
  createdAt: TIME,
  messageFormat: 'plain',
  cwd: '/home/someone',
  parent: 'golden/0',
  seedLength: 2,
  origin: 'fork',
  labels: { colour: 'blue\u2028', 'two words': '"quoted"' },
}

const step = { turn: 1, step: 1 }
const text = (seq: number, delta: string): AnySessionEvent => ({
  seq,
  time: TIME + 20 * seq,
  type: 'assistant/chunk',
  data: { ...step, kind: 'text', index: 0, text: delta },
})

/** One batch a row. */
export const BATCHES: readonly (readonly AnySessionEvent[])[] = [
  [
    { seq: 0, time: TIME, type: 'turn/start', data: { turn: 1 } },
    { seq: 1, time: TIME, type: 'user/message', data: { turn: 1, message: { role: 'user', content: 'Grüß Gott 👋' } } },
  ],
  [{ seq: 2, time: TIME - 1, type: 'step/start', data: step }],
  [text(3, 'Hel'), text(4, 'lo'), text(5, ' \u2028\u2029\u0085\u0000'), text(6, '你好'), text(7, '"\\/\b\f\n\r\t')],
  [
    {
      seq: 8,
      time: TIME,
      type: 'assistant/chunk',
      data: { ...step, kind: 'tool-arguments', index: 1, callId: 'c', text: '{' },
    },
    {
      seq: 9,
      time: TIME,
      type: 'assistant/chunk',
      data: { ...step, kind: 'tool-arguments', index: 1, callId: 'c', text: '}' },
    },
    { seq: 10, time: TIME, type: 'assistant/chunk', data: { ...step, kind: 'other', value: { finish: 'stop' } } },
    {
      seq: 11,
      time: TIME + 300,
      type: 'assistant/message',
      data: { ...step, message: { role: 'assistant', content: 'Hello \ud83d' }, toolCalls: [] },
      sources: [
        [3, 7],
        [8, 10],
      ],
    },
  ],
  [
    {
      seq: 12,
      time: TIME + 301,
      type: 'user/message',
      data: { turn: 1, message: { role: 'user', content: 'again' } },
      surface: { replace: [1, 1] },
    },
    {
      seq: 13,
      time: 9007199254740991,
      type: 'acme/numbers',
      data: [9007199254740991, 1e308, -1.5, 5e-324],
      ignorable: true,
    },
    { seq: 14, time: -1, type: 'acme/number', data: 5, ignorable: true },
    { seq: 15, time: 0, type: 'acme/keys', data: JSON.parse('{"__proto__":1,"seq":2,"batch":3,"":{}}') as unknown },
  ],
]

export interface GoldenLog {
  readonly name: string
  readonly bytes: Buffer
  /** What a reader must give. */
  readonly expected: GoldenDecode
}

export interface GoldenDecode {
  readonly header: SessionHeader
  readonly events: readonly AnySessionEvent[]
  readonly torn?: { readonly offset: number; readonly bytes: number }
  readonly corrupt?: { readonly offset: number; readonly seq: number }
}

async function encoded(options: LineCodecOptions): Promise<Buffer[]> {
  const { bytes, dialect } = await lineCodec({ ...options, newSalt: () => 0x9f86d081 }).create(HEADER)
  const parts = [bytes]
  for (const batch of BATCHES) parts.push(await dialect.encodeBatch(batch, 0))
  return parts
}

/** Every golden log, as today's encoder writes it. */
export async function goldenLogs(): Promise<readonly GoldenLog[]> {
  const events = BATCHES.flat()
  const parts = await encoded({})
  const clean = Buffer.concat(parts)
  const lastBatch = clean.length - (parts.at(-1)?.length ?? 0)
  const kept = BATCHES.slice(0, -1).flat()
  const zeroed = Buffer.concat([clean, Buffer.alloc(700)])
  const third = parts.slice(0, 3).reduce((sum, part) => sum + part.length, 0)
  const flipped = Buffer.from(clean)
  flipped.writeUInt8((flipped[third + 60] ?? 0) ^ 1, third + 60)
  return [
    { name: 'clean', bytes: clean, expected: { header: HEADER, events } },
    { name: 'packed', bytes: Buffer.concat(await encoded({ pack: true })), expected: { header: HEADER, events } },
    {
      name: 'no-checksum',
      bytes: Buffer.concat(await encoded({ checksum: 'none' })),
      expected: { header: HEADER, events },
    },
    { name: 'no-last-line-end', bytes: clean.subarray(0, -1), expected: { header: HEADER, events } },
    {
      name: 'torn-cut',
      bytes: clean.subarray(0, -50),
      expected: { header: HEADER, events: kept, torn: { offset: lastBatch, bytes: clean.length - 50 - lastBatch } },
    },
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
