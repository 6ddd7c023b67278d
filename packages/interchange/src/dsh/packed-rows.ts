import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord } from '../source/record-fields.ts'

/** One event of a packed row, as it would stand on a line of its own. */
export interface UnpackedChunk {
  readonly time: number | undefined
  readonly turn: number
  readonly step: number
  readonly chunk: SourceRecord
}

export const PACKED_TYPES: ReadonlySet<unknown> = new Set(['text-chunks', 'reasoning-chunks', 'tool-call-chunks'])

/** A longer row is kept whole: what it unpacks to must fit in memory. */
const DELTAS_MAX = 65_536

/** How many seqs a packed row takes; undefined when it is not of the known form. */
export function packedLength(row: SourceRecord): number | undefined {
  const data = row.data
  if (!isRecord(data)) return undefined
  const texts = row.type === 'tool-call-chunks' ? data.args : data.texts
  const { dt } = data
  if (!Array.isArray(texts) || !Array.isArray(dt) || texts.length === 0 || dt.length !== texts.length - 1)
    return undefined
  return texts.length
}

/**
 * The deltas of a packed row `{ seq0, time0, data: { turn, step, index, dt, texts | args, id?, name? } }`; `dt` holds the
 * gaps between their times. Undefined when anything in it is not of the known form: the row is then kept whole.
 */
export function unpackRow(row: SourceRecord): readonly UnpackedChunk[] | undefined {
  const data = row.data
  if (!isRecord(data) || (packedLength(row) ?? Number.POSITIVE_INFINITY) > DELTAS_MAX) return undefined
  const { turn, step, index, dt, id, name, ...others } = data
  const call = row.type === 'tool-call-chunks'
  const { [call ? 'args' : 'texts']: texts, ...unknown } = others
  if (!isCount(turn) || !isCount(step) || !isCount(index) || !areStrings(texts)) return undefined
  if (!Array.isArray(dt) || !dt.every(Number.isSafeInteger) || Object.keys(unknown).length > 0) return undefined
  if (call ? typeof id !== 'string' || typeof name !== 'string' : id !== undefined || name !== undefined)
    return undefined
  if (Object.keys(row).some((key) => !['type', 'seq0', 'time0', 'data'].includes(key))) return undefined
  let time = Number.isSafeInteger(row.time0) ? (row.time0 as number) : undefined
  return texts.map((text, position) => {
    if (time !== undefined && position > 0) time += Number(dt[position - 1])
    return { time, turn, step, chunk: delta(row.type, index, text, id, name) }
  })
}

function delta(type: unknown, index: number, text: string, id: unknown, name: unknown): SourceRecord {
  switch (type) {
    case 'text-chunks':
      return { type: 'text-delta', index, text }
    case 'reasoning-chunks':
      return { type: 'reasoning-delta', index, text }
    default:
      return { type: 'tool-call-delta', index, id, name, argumentsDelta: text }
  }
}

function areStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
