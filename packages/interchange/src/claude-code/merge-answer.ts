import type { ToolCall, Usage } from '@session-persistence/core'
import type { AnswerInput } from '../assembly/event-inputs.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord } from '../source/record-fields.ts'
import { blocksOf } from './transcript-line.ts'

/**
 * Lines with one message id are one answer: the blocks of `parts` in order; other fields as the last of all its lines
 * has them, a copy made later included, because that one counts the tokens to the end.
 */
export function mergeAnswer(parts: readonly SourceRecord[], last: SourceRecord): SourceRecord {
  const [first, ...others] = parts
  if (first === undefined) return last
  const content = others.length === 0 ? first.content : parts.flatMap(asBlocks)
  return { ...first, ...last, content }
}

function asBlocks(message: SourceRecord): readonly unknown[] {
  const { content } = message
  return typeof content === 'string' ? [{ type: 'text', text: content }] : blocksOf(message)
}

/** How many blocks of the merged answer a line gave. */
export function blockCount(message: SourceRecord): number {
  return asBlocks(message).length
}

/** The calls that a message asks for. Tools that run at the provider are answered in the message itself. */
export function toolCallsOf(message: SourceRecord): ToolCall[] {
  return blocksOf(message).flatMap((block): ToolCall[] => {
    if (!isRecord(block) || block.type !== 'tool_use') return []
    const { id, name, input } = block
    if (typeof id !== 'string' || typeof name !== 'string') return []
    return [{ callId: id, name, arguments: input ?? null }]
  })
}

/** True when the answer says something: one of reasoning alone is not finished. */
export function hasText(message: SourceRecord): boolean {
  const { content } = message
  if (typeof content === 'string') return true
  return blocksOf(message).some(
    (block) => isRecord(block) && block.type !== 'thinking' && block.type !== 'redacted_thinking',
  )
}

const USAGE_FIELDS: readonly (readonly [ours: keyof Usage, theirs: string])[] = [
  ['inputTokens', 'input_tokens'],
  ['outputTokens', 'output_tokens'],
  ['cacheReadTokens', 'cache_read_input_tokens'],
  ['cacheWriteTokens', 'cache_creation_input_tokens'],
]

/** A merged answer as an event says it. */
export function answerInput(message: SourceRecord, toolCalls: readonly ToolCall[]): AnswerInput {
  const { model } = message
  const usage = usageOf(message)
  return {
    message,
    toolCalls,
    provider: 'anthropic',
    ...(typeof model === 'string' && { model }),
    ...(usage !== undefined && { usage }),
  }
}

/** The counts that core has names for; all of them stay in the message, too. */
function usageOf({ usage }: SourceRecord): Usage | undefined {
  if (!isRecord(usage)) return undefined
  return Object.fromEntries(
    USAGE_FIELDS.map(([ours, theirs]) => [ours, usage[theirs]]).filter(([, count]) => isCount(count)),
  )
}

/** Lines whose content stands in the answer already and that do not go on from it: a copy made when the session was resumed. */
export function copiesAmong(
  lines: readonly {
    readonly uuid: string | undefined
    readonly parent: string | undefined
    readonly contentHash: number
  }[],
): ReadonlySet<number> {
  const copies = new Set<number>()
  const seen = new Set<number>()
  const chain = new Set<string>()
  lines.forEach(({ uuid, parent, contentHash }, at) => {
    const continues = parent !== undefined && chain.has(parent)
    if (seen.has(contentHash) && !continues) copies.add(at)
    else {
      seen.add(contentHash)
      if (uuid !== undefined) chain.add(uuid)
    }
  })
  return copies
}
