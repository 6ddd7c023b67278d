/** Events of a small session that uses every part of the envelope, and databases made of them. */
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  isElided,
  type SessionHeader,
  type SessionStorage,
  type StorageReadRange,
} from '@session-persistence/core'

export const SAMPLE_TIME = 1_700_000_000_000

export function sampleHeader(id: string): SessionHeader {
  return { version: FORMAT_VERSION, id, createdAt: SAMPLE_TIME, messageFormat: 'plain', cwd: '/home/someone/työ' }
}

export function chunk(seq: number, text: string): AnySessionEvent {
  const data = { turn: 1, step: 1, kind: 'text', index: 0, text }
  return { seq, time: SAMPLE_TIME + 10 * seq, type: 'assistant/chunk', data }
}

export function note(seq: number, data: unknown = { text: `note ${seq}` }): AnySessionEvent {
  return { seq, time: SAMPLE_TIME + seq, type: 'acme/note', data, ignorable: true }
}

/** `count` notes from seq `from`. */
export function notes(count: number, from = 0): readonly AnySessionEvent[] {
  return Array.from({ length: count }, (_, index) => note(from + index))
}

/** Batches in the order of a real turn. */
export const SAMPLE_BATCHES: readonly (readonly AnySessionEvent[])[] = [
  [
    { seq: 0, time: SAMPLE_TIME, type: 'turn/start', data: { turn: 1 } },
    {
      seq: 1,
      time: SAMPLE_TIME + 1,
      type: 'user/message',
      data: { turn: 1, message: { role: 'user', content: 'grüß dich 👋' } },
    },
    { seq: 2, time: SAMPLE_TIME + 2, type: 'step/start', data: { turn: 1, step: 1 } },
  ],
  [chunk(3, 'He'), chunk(4, 'llo'), chunk(5, ' "quoted" \\ and\nmore'), chunk(6, '你好\ud83d'), chunk(7, '')],
  [
    {
      seq: 8,
      time: SAMPLE_TIME - 5,
      type: 'assistant/message',
      data: {
        turn: 1,
        step: 1,
        message: { role: 'assistant', content: 'Hello\u2028\u2029\u0000\ud800' },
        toolCalls: [],
      },
      sources: [[3, 7]],
    },
  ],
  [
    { seq: 9, time: SAMPLE_TIME + 100, type: 'acme/note', data: { seq: 4, batch: 3 }, ignorable: true },
    {
      seq: 10,
      time: SAMPLE_TIME + 101,
      type: 'user/message',
      data: { turn: 1, message: null },
      surface: { replace: [1, 1] },
    },
    { seq: 11, time: SAMPLE_TIME + 102, type: 'odd "type"\u0000\ud800', data: 5 },
  ],
]

export const SAMPLE_EVENTS: readonly AnySessionEvent[] = SAMPLE_BATCHES.flat()

/** Stores batches as a new session; its writer is closed again. */
export async function store(
  storage: SessionStorage,
  id: string,
  batches: readonly (readonly AnySessionEvent[])[] = SAMPLE_BATCHES,
): Promise<void> {
  const writer = await storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
  try {
    for (const batch of batches) await writer.append(batch)
  } finally {
    await writer.close()
  }
}

/** Every event that a reader gives. */
export async function readAll(
  storage: SessionStorage,
  id: string,
  range: StorageReadRange = {},
): Promise<readonly AnySessionEvent[]> {
  const reader = await storage.openReader(id)
  try {
    const events: AnySessionEvent[] = []
    for await (const page of reader.read(range)) for (const record of page) if (!isElided(record)) events.push(record)
    return events
  } finally {
    await reader.close()
  }
}

/** The error that a call ends in. */
export async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  throw new Error('the call was expected to fail')
}
