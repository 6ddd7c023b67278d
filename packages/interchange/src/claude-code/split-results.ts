import type { ResultInput, UserInput } from '../assembly/event-inputs.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isRecord } from '../source/record-fields.ts'
import { blocksOf } from './transcript-line.ts'

/** What `toolUseResult` is of: the one result of its line. With several results it stays with the line. */
export function takenByResults(record: SourceRecord, message: SourceRecord): readonly string[] {
  const single = blocksOf(message).filter((block) => callIdOf(block) !== undefined).length === 1
  return single && record.toolUseResult !== undefined ? ['toolUseResult'] : []
}

/**
 * A user line with results as one message for each result, since each answers its own call, and one for its other
 * blocks.
 * @param envelope goes with the first result
 */
export function splitResults(
  record: SourceRecord,
  message: SourceRecord,
  envelope: SourceRecord,
): { readonly given: readonly ResultInput[]; readonly others: UserInput | undefined } {
  const given: ResultInput[] = []
  const others: unknown[] = []
  const hasMeta = takenByResults(record, message).length > 0
  for (const block of blocksOf(message)) {
    const callId = callIdOf(block)
    if (callId === undefined || !isRecord(block)) {
      others.push(block)
      continue
    }
    given.push({
      callId,
      message: { ...message, content: [block] },
      ...(block.is_error === true && { error: { code: 'tool-error' } }),
      ...(hasMeta && { meta: record.toolUseResult }),
      ...(given.length === 0 && { imported: envelope }),
    })
  }
  if (others.length === 0) return { given, others: undefined }
  return { given, others: { message: { ...message, content: others }, source: { kind: 'context' } } }
}

function callIdOf(block: unknown): string | undefined {
  if (!isRecord(block) || block.type !== 'tool_result') return undefined
  return typeof block.tool_use_id === 'string' ? block.tool_use_id : undefined
}
