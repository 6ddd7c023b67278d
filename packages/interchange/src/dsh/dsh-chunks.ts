import type { ChunkDelta } from '@session-persistence/core'
import type { SourceRecord } from '../source/decode-line.ts'
import { isCount } from '../source/record-fields.ts'

/** A stream chunk as a delta of core: text, reasoning and call arguments; everything else verbatim. */
export function chunkDelta(chunk: SourceRecord): ChunkDelta {
  const { type, index, ...rest } = chunk
  if (!isCount(index)) return { kind: 'other', value: chunk }
  const { text, id, name, argumentsDelta } = rest
  if (
    (type === 'text-delta' || type === 'reasoning-delta') &&
    typeof text === 'string' &&
    Object.keys(rest).length === 1
  ) {
    return { kind: type === 'text-delta' ? 'text' : 'reasoning', index, text }
  }
  const named = typeof name === 'string'
  if (type === 'tool-call-delta' && typeof id === 'string' && typeof argumentsDelta === 'string') {
    if (Object.keys(rest).length === (named ? 3 : 2)) {
      return { kind: 'tool-arguments', index, callId: id, ...(named && { name }), text: argumentsDelta }
    }
  }
  return { kind: 'other', index, value: chunk }
}
