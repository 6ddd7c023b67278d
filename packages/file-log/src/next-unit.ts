/** Finds the first verified unit behind damage, in bounded memory. */
import type { OpenFile } from './file-system.ts'
import { readBytes, readInto } from './read-bytes.ts'
import type { ScanSource } from './scan-pages.ts'
import type { ScanStart } from './seek.ts'

const STEP_BYTES = 1024 * 1024

/** Where the first verified unit at or behind `from` starts; undefined when there is none before the end of the source. */
export async function nextUnit(source: ScanSource, from: number): Promise<ScanStart | undefined> {
  const { file, path, codec, dialect, end } = source
  const { terminator, unitBytesMax, landmarkBytes } = codec
  let length = STEP_BYTES
  for (let at = from; at < end; ) {
    if (terminator !== undefined) {
      const stop = await findTerminator(file, path, terminator, at, end)
      if (stop === undefined) return undefined
      // Nothing that long is a unit: it is not worth holding.
      if (stop - at > unitBytesMax) {
        at = stop
        continue
      }
      length = Math.max(STEP_BYTES, stop - at)
    }
    const bytes = await readBytes(file, path, at, Math.min(length, end - at))
    const unit = dialect.findUnit({ bytes, offset: at }, at)
    if (unit !== undefined) return { offset: unit.offset, seq: unit.firstSeq }
    if (at + bytes.length >= end) return undefined
    if (terminator !== undefined) at += bytes.lastIndexOf(terminator) + 1
    else if (landmarkBytes !== undefined) at += bytes.length - (landmarkBytes - 1)
    else if (length < 2 * unitBytesMax) length *= 4
    else at += length - unitBytesMax
  }
  return undefined
}

/** Offset behind the first terminator at or behind `from`; undefined when there is none before `end`. */
export async function findTerminator(
  file: OpenFile,
  path: string,
  terminator: number,
  from: number,
  end: number,
): Promise<number | undefined> {
  const step = Buffer.allocUnsafe(Math.min(64 * 1024, end - from))
  for (let at = from; at < end; ) {
    const part = step.subarray(0, Math.min(step.length, end - at))
    const filled = await readInto(file, path, part, at)
    const found = part.subarray(0, filled).indexOf(terminator)
    if (found !== -1) return at + found + 1
    if (filled < part.length) return undefined
    at += filled
  }
  return undefined
}
