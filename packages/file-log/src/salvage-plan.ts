/** What of a damaged log can be proven, in order of seq, and what is missing between. */

import type { SalvagedUnit, UnitEnd } from './log-codec.ts'
import { findTerminator } from './next-unit.ts'
import { readBytes } from './read-bytes.ts'
import type { ScanSource } from './scan-pages.ts'

const STEP_BYTES = 1024 * 1024
const GROWTH = 4

/** Units that follow each other without anything between, in bytes and in seqs. */
export interface SalvagedSpan {
  readonly offset: number
  readonly end: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly terminated: boolean
}

/** Every proven part of the log, by first seq, those that stood first first; parts may repeat each other. */
export async function salvageSpans(source: ScanSource, signal: AbortSignal | undefined): Promise<SalvagedSpan[]> {
  const { file, path, codec, dialect, end } = source
  const spans: SalvagedSpan[] = []
  let length = STEP_BYTES
  let before: UnitEnd | undefined = dialect.dataStart > 0 ? { end: dialect.dataStart, lastSeq: -1 } : undefined
  for (let at = dialect.dataStart; at < end; ) {
    signal?.throwIfAborted()
    if (codec.terminator !== undefined) {
      const stop = await findTerminator(file, path, codec.terminator, at, end)
      if (stop === undefined && end - at > codec.unitBytesMax) break
      if (stop !== undefined && stop - at > codec.unitBytesMax) {
        at = stop
        continue
      }
      length = Math.max(STEP_BYTES, (stop ?? end) - at)
    }
    const bytes = await readBytes(file, path, at, Math.min(length, end - at))
    const last = at + bytes.length >= end
    const window =
      last && codec.terminator !== undefined ? Buffer.concat([bytes, Buffer.from([codec.terminator])]) : bytes
    const { units, consumed } = await dialect.salvage({ bytes: window, offset: at }, { before, isLast: last })
    if (consumed === 0 && !last && codec.terminator === undefined && length < codec.unitBytesMax) {
      length = Math.min(GROWTH * length, codec.unitBytesMax)
      continue
    }
    length = STEP_BYTES
    for (const unit of units) add(spans, unit, end)
    before = units.at(-1) ?? before
    if (last || consumed === 0) break
    at += consumed
  }
  return spans.sort((a, b) => a.firstSeq - b.firstSeq || a.offset - b.offset)
}

function add(spans: SalvagedSpan[], unit: SalvagedUnit, fileEnd: number): void {
  const { firstSeq, lastSeq, offset } = unit
  const end = Math.min(unit.end, fileEnd)
  const terminated = unit.terminated && unit.end <= fileEnd
  const before = spans.at(-1)
  // A unit without its terminator is read alone.
  if (terminated && before?.terminated === true && before.end === offset && before.lastSeq + 1 === firstSeq) {
    spans[spans.length - 1] = { ...before, end, lastSeq }
  } else {
    spans.push({ offset, end, firstSeq, lastSeq, terminated })
  }
}
