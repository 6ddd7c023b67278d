import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord } from '../source/record-fields.ts'

/**
 * A request environment with a `request/header-delta` applied: `system` is edited by lines (keep the first `keepStart`
 * and the last `keepEnd`, put `insert` between them). Undefined when the delta says anything else, or does not fit.
 */
export function withHeaderDelta(header: SourceRecord, delta: SourceRecord): SourceRecord | undefined {
  const { system, ...others } = delta
  if (!isRecord(system) || Object.keys(others).length > 0) return undefined
  const edited = editLines(header.system, system)
  return edited === undefined ? undefined : { ...header, system: edited }
}

function editLines(text: unknown, { keepStart, keepEnd, insert, ...others }: SourceRecord): string | undefined {
  if (typeof text !== 'string' || !isCount(keepStart) || !isCount(keepEnd) || Object.keys(others).length > 0)
    return undefined
  if (!Array.isArray(insert) || !insert.every((line) => typeof line === 'string')) return undefined
  const lines = text.split('\n')
  if (keepStart + keepEnd > lines.length) return undefined
  return [...lines.slice(0, keepStart), ...insert, ...lines.slice(lines.length - keepEnd)].join('\n')
}
