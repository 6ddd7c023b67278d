/** Events of a small session that uses every part of the envelope, and logs made of them. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  isElided,
  type SessionHeader,
  type SessionStorage,
  type StorageReadRange,
} from '@session-persistence/core'
import { encodeSessionName } from '@session-persistence/file-log'

export const SAMPLE_TIME = 1_700_000_000_000

export function sampleHeader(id: string): SessionHeader {
  return { version: FORMAT_VERSION, id, createdAt: SAMPLE_TIME, messageFormat: 'plain', cwd: '/home/someone/työ' }
}

function chunk(seq: number, text: string): AnySessionEvent {
  const data = { turn: 1, step: 1, kind: 'text', index: 0, text }
  return { seq, time: SAMPLE_TIME + 10 * seq, type: 'assistant/chunk', data }
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
  [chunk(3, 'He'), chunk(4, 'llo'), chunk(5, ' "quoted" \\ and\nmore'), chunk(6, '你好'), chunk(7, '')],
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
    {
      seq: 9,
      time: SAMPLE_TIME + 100,
      type: 'acme/note',
      data: { __proto__: null, seq: 4, batch: 3 },
      ignorable: true,
    },
    {
      seq: 10,
      time: SAMPLE_TIME + 101,
      type: 'user/message',
      data: { turn: 1, message: null },
      surface: { replace: [1, 1] },
    },
    { seq: 11, time: SAMPLE_TIME + 102, type: 'acme/number', data: 5 },
  ],
]

export const SAMPLE_EVENTS: readonly AnySessionEvent[] = SAMPLE_BATCHES.flat()

/** Stores batches as a new session; nothing is left open. */
export async function store(
  storage: SessionStorage,
  id: string,
  batches: readonly (readonly AnySessionEvent[])[],
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

export function logPath(root: string, id: string): string {
  return join(root, encodeSessionName(id), 'session.jsonl')
}

export function readLog(root: string, id: string): Promise<Buffer> {
  return readFile(logPath(root, id))
}

export function writeLog(root: string, id: string, bytes: Uint8Array): Promise<void> {
  return writeFile(logPath(root, id), bytes)
}
