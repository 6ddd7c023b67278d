import type { SourceRecord } from '../source/decode-line.ts'
import { isRecord } from '../source/record-fields.ts'

/** Where a user-role line came from, as the `kind` of its source. */
export type UserKind =
  | 'human'
  /** The task that a sub-agent was given. */
  | 'agent'
  /** A slash command. */
  | 'command'
  | 'command-output'
  | 'notification'
  /** Put in by the harness. */
  | 'context'
  /** The user stopped the model. */
  | 'interruption'
  /** What a compaction left of the conversation. */
  | 'compaction'

const BY_START: readonly (readonly [start: string, kind: UserKind])[] = [
  ['[Request interrupted by user', 'interruption'],
  ['<local-command-stdout>', 'command-output'],
  ['<local-command-stderr>', 'command-output'],
  ['<bash-stdout>', 'command-output'],
  ['<bash-stderr>', 'command-output'],
  ['<command-name>', 'command'],
  ['<command-message>', 'command'],
  ['<bash-input>', 'command'],
  ['<task-notification>', 'notification'],
]

/** Kinds that begin a turn once the one before has its answer. */
const STARTS: ReadonlySet<UserKind> = new Set<UserKind>(['human', 'agent', 'command', 'notification'])

export interface UserLine {
  readonly kind: UserKind
  /** True when it begins a turn, unless it adds to a prompt that has no answer yet. */
  readonly starts: boolean
}

export function userLine(record: SourceRecord, message: SourceRecord, first: boolean): UserLine {
  if (record.isCompactSummary === true) return { kind: 'compaction', starts: false }
  const text = firstText(message)
  if (record.isMeta === true) {
    // The caveat stands before the command that it is about.
    return { kind: 'context', starts: text.startsWith('<local-command-caveat>') || text.startsWith('Caveat: ') }
  }
  const named = BY_START.find(([start]) => text.startsWith(start))
  const kind = named?.[1] ?? (first && record.isSidechain === true ? 'agent' : 'human')
  return { kind, starts: STARTS.has(kind) }
}

function firstText({ content }: SourceRecord): string {
  if (typeof content === 'string') return content.trimStart()
  const block: unknown = Array.isArray(content) ? content[0] : undefined
  return isRecord(block) && typeof block.text === 'string' ? block.text.trimStart() : ''
}
