/** Events of turns that a harness might store, drawn at random: of any length, with everything that is hard to store. */
import type { Random } from '@session-persistence/conformance/crash-states'
import { type AnySessionEvent, FORMAT_VERSION, type SessionHeader } from '@session-persistence/core'

const TIME = 1_700_000_000_000
const WORDS = [
  'and ',
  'the ',
  'π',
  '👋',
  '\u0000',
  '\u2028',
  '"quoted"',
  '\\',
  '\n',
  '}{',
  '{"seq":3,',
  '"batch":0',
  '你好',
  '',
]

export function sampleHeader(id: string): SessionHeader {
  return { version: FORMAT_VERSION, id, createdAt: TIME, messageFormat: 'plain', cwd: '/home/someone/työ' }
}

function text(random: Random, bytes: number): string {
  let made = ''
  while (made.length < bytes) made += random.pick(WORDS) + random.next().toString(36).slice(0, random.below(6))
  return made
}

/** `count` events from `seq`, with about `bytes` of text each. */
export function sampleBatch(random: Random, seq: number, count: number, bytes: number): AnySessionEvent[] {
  return Array.from({ length: count }, (_, index) => sampleEvent(random, seq + index, random.below(2 * bytes + 1)))
}

function sampleEvent(random: Random, seq: number, bytes: number): AnySessionEvent {
  const time = TIME + 10 * seq + random.below(5)
  if (seq === 0) return { seq, time, type: 'turn/start', data: { turn: 1 } }
  if (seq === 1) return { seq, time, type: 'step/start', data: { turn: 1, step: 1 } }
  if (random.below(6) === 0)
    return { seq, time, type: 'acme/note', data: { note: text(random, bytes) }, ignorable: true }
  const data = { turn: 1, step: 1, kind: 'text', index: 0, text: text(random, bytes) }
  return { seq, time, type: 'assistant/chunk', data }
}

/** Batches that follow each other. */
export function sampleBatches(random: Random, batches: number, countMax: number, bytes: number): AnySessionEvent[][] {
  const made: AnySessionEvent[][] = []
  for (let seq = 0; made.length < batches; ) {
    const batch = sampleBatch(random, seq, 1 + random.below(countMax), bytes)
    made.push(batch)
    seq += batch.length
  }
  return made
}
