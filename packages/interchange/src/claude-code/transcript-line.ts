import { crc32 } from 'node:zlib'
import type { SourceRecord } from '../source/decode-line.ts'
import { isRecord } from '../source/record-fields.ts'

/** What a record is to the conversation. */
export type LineRole =
  /** A user-role message that no tool gave: a prompt, injected context, an interruption, a summary. */
  | 'user'
  /** A user line with results of tools. */
  | 'results'
  /** One line of an answer; lines with one message id are one answer. */
  | 'answer'
  | 'title'
  | 'other'

export interface LineFacts {
  readonly role: LineRole
  readonly uuid: string | undefined
  readonly parent: string | undefined
  readonly sidechain: boolean
  readonly sessionId: unknown
  readonly agentId: string | undefined
  readonly time: number | undefined
  /** Of an answer. */
  readonly messageId: string | undefined
  /** Ids of the calls whose results the line holds. */
  readonly results: readonly string[]
  /** Tells answers' contents apart. */
  readonly contentHash: number
  /** Of a title: the message that it was made for. */
  readonly leaf: string | undefined
}

const NONE: readonly string[] = []

/** What the shape of the tree depends on, so that the record itself need not be kept. */
export function lineFacts(record: SourceRecord): LineFacts {
  const message = isRecord(record.message) ? record.message : {}
  const role = roleOf(record, message)
  return {
    role,
    uuid: text(record.uuid),
    parent: text(record.parentUuid),
    sidechain: record.isSidechain === true,
    sessionId: record.sessionId,
    agentId: text(record.agentId),
    time: timeOf(record),
    messageId: role === 'answer' ? text(message.id) : undefined,
    results: role === 'results' ? blocksOf(message).flatMap(resultIds) : NONE,
    contentHash: role === 'answer' ? crc32(JSON.stringify(message.content)) : 0,
    leaf: role === 'title' ? text(record.leafUuid) : undefined,
  }
}

/** Unix milliseconds of a record's `timestamp`; undefined when it has none. */
export function timeOf({ timestamp }: SourceRecord): number | undefined {
  if (typeof timestamp !== 'string') return undefined
  const time = Date.parse(timestamp)
  return Number.isSafeInteger(time) ? time : undefined
}

function roleOf(record: SourceRecord, message: SourceRecord): LineRole {
  const content = message.content
  const isMessage = typeof content === 'string' || Array.isArray(content)
  switch (record.type) {
    case 'user':
      if (!isMessage) return 'other'
      return blocksOf(message).some((block) => resultIds(block).length > 0) ? 'results' : 'user'
    case 'assistant':
      return isMessage ? 'answer' : 'other'
    case 'summary':
    case 'ai-title':
    case 'custom-title':
      return titleOf(record) === undefined ? 'other' : 'title'
    default:
      return 'other'
  }
}

/** The field that holds a title, and what it says. */
export function titleOf(record: SourceRecord): { readonly field: string; readonly title: string } | undefined {
  for (const field of ['summary', 'customTitle', 'aiTitle', 'title']) {
    const title = record[field]
    if (typeof title === 'string') return { field, title }
  }
  return undefined
}

/** The blocks of a message; none when its content is text. */
export function blocksOf({ content }: SourceRecord): readonly unknown[] {
  return Array.isArray(content) ? content : []
}

function resultIds(block: unknown): readonly string[] {
  if (!isRecord(block) || block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') return NONE
  return [block.tool_use_id]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A record that stands on its own, as opposed to an object inside one. */
export function isWholeRecord(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { type, uuid, sessionId, message, leafUuid, snapshot } = value
  if (type === 'user' || type === 'assistant')
    return isRecord(message) && typeof uuid === 'string' && typeof sessionId === 'string'
  if (type === 'summary') return typeof leafUuid === 'string'
  if (type === 'file-history-snapshot') return isRecord(snapshot)
  return typeof type === 'string' && typeof sessionId === 'string' && 'timestamp' in value
}
