// Proves on real logs that every record survives as event data, and that real streams pack well and come back exactly.
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/event/decode-event.ts'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { eventJson } from '../../src/event/event-json.ts'
import { losslessCopy } from '../../src/event/lossless-json.ts'
import { decodePackedRun, isPackedRun, packedRunJson, packRuns, unpackRun } from '../../src/event/packed-run.ts'
import { corpusAbsent, corpusRecords, onCorpus } from './corpus.ts'

type Fields = { readonly [key: string]: unknown }

/** A delta of a DeepSeek Harness log as a core chunk; other chunks verbatim. */
function chunkOf({ turn, step, chunk }: Fields): unknown {
  const { type, index, text, id, name, argumentsDelta } = chunk as Fields
  const block = { turn, step }
  if (type === 'text-delta') return { ...block, kind: 'text', index, text }
  if (type === 'reasoning-delta') return { ...block, kind: 'reasoning', index, text }
  if (type === 'tool-call-delta' && typeof argumentsDelta === 'string') {
    return {
      ...block,
      kind: 'tool-arguments',
      index,
      callId: id,
      ...(name === undefined ? {} : { name }),
      text: argumentsDelta,
    }
  }
  return { ...block, kind: 'other', value: chunk }
}

function eventsOf(folder: string): AnySessionEvent[] {
  const events: AnySessionEvent[] = []
  for (const record of corpusRecords(folder)) {
    if (typeof record !== 'object' || record === null) continue
    const { type, time, data } = record as Fields
    const isChunk = type === 'assistant/chunk' && typeof data === 'object' && data !== null && 'chunk' in data
    events.push({
      seq: events.length,
      time: typeof time === 'number' ? time : 0,
      type: isChunk ? type : 'corpus/record',
      data: isChunk ? chunkOf(data as Fields) : record,
    })
  }
  return events
}

describe.skipIf(corpusAbsent)('the corpus', () => {
  it.each(['claude-code', 'codex', 'dsh', 'other', 'pi'])(
    onCorpus('%s: every record is lossless JSON, and comes back from its canonical form'),
    (folder) => {
      let records = 0
      for (const record of corpusRecords(folder)) {
        if (record === undefined) continue
        const { value, size } = losslessCopy(record)
        const json = JSON.stringify(record)
        expect(JSON.stringify(value)).toBe(json)
        const bytes = Buffer.byteLength(json)
        expect(size <= bytes && bytes <= 6 * size).toBe(true)
        const event = eventJson({ seq: records, time: 0, type: 'corpus/record', data: value })
        expect(eventJson(decodeEvent(JSON.parse(event), records, event.length))).toBe(event)
        records++
      }
      expect(records).toBeGreaterThan(100)
    },
    60_000,
  )

  it(onCorpus('dsh/history: runs are most of the chunks, and unpack to the same events'), () => {
    const events = eventsOf('dsh/history')
    const lines = packRuns(events).map((record) => (isPackedRun(record) ? packedRunJson(record) : eventJson(record)))
    let at = 0
    for (const line of lines) {
      const parsed: unknown = JSON.parse(line)
      const unpacked = isPackedRun(parsed) ? unpackRun(decodePackedRun(parsed, at)) : [decodeEvent(parsed, at)]
      for (const event of unpacked) expect(eventJson(event)).toBe(eventJson(events[at++] as AnySessionEvent))
    }
    expect(at).toBe(events.length)
    const deltas = events.filter(({ type, data }) => type === 'assistant/chunk' && (data as Fields).kind !== 'other')
    expect(deltas.length).toBeGreaterThan(1000)
    const runs = lines.filter((line) => line.includes('"run":{"turn"'))
    expect(lines.length - runs.length).toBeLessThan(events.length - deltas.length * 0.9)
  })
})
