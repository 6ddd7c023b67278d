import type { DecodedLine } from '../source/decode-line.ts'
import type { SourceLine } from '../source/split-lines.ts'
import type { LogAssembler } from './log-assembler.ts'
import type { Moment } from './time-source.ts'

/** Counts a line in the report, and keeps what is no record on it. */
export function acceptLine(assembler: LogAssembler, line: SourceLine, decoded: DecodedLine, when: Moment): void {
  const { report } = assembler
  if (line.piece === undefined || line.piece === 0) report.lines++
  report.records += decoded.records.length
  if (decoded.blank) report.blankLines++
  if (decoded.byteOrderMark) report.byteOrderMark = true
  if (decoded.crlf) report.crlf++
  if (!line.terminated && line.piece === undefined) report.noFinalNewline = true
  for (const damage of decoded.damage) report.damage(damage)
  const place = { number: line.number, offset: line.offset, bytes: line.bytes.length }
  for (const raw of decoded.raw) assembler.damaged(place, raw, when)
}
