import type { SourceRecord } from '../source/decode-line.ts'
import { headRecords } from '../source/head-records.ts'
import { isRecord } from '../source/record-fields.ts'
import { titleOf } from './transcript-line.ts'

/** Lines beside the conversation that have no place in the tree, and that no other program is known to write. */
const LINES_ASIDE: ReadonlySet<unknown> = new Set(['queue-operation', 'pr-link'])

/**
 * How sure it is that a file is a transcript. Other programs took over the frame (`uuid`, `parentUuid`, `sessionId`) for
 * messages of another API, and of those the reader could map nothing: so a message in Anthropic's form is what counts, and
 * a frame around another one speaks against it. Lines of neither kind have to say something that only this program says.
 */
export function detectTranscript(head: Buffer): number {
  const records = headRecords(head)
  if (records.some((record) => isFramed(record) && hasContent(record))) return 1
  if (records.some(isFramed)) return 0
  if (records.some(isTelling)) return 1
  // The first line may be longer than the head.
  const text = head.subarray(0, 4096).toString('latin1')
  return ['"parentUuid":', '"sessionId":', '"isSidechain":'].every((name) => text.includes(name)) ? 0.9 : 0
}

/** A line of the conversation, whatever the form of its message. */
function isFramed({ type, uuid, sessionId, message }: SourceRecord): boolean {
  return (
    (type === 'user' || type === 'assistant') &&
    typeof uuid === 'string' &&
    typeof sessionId === 'string' &&
    isRecord(message)
  )
}

function hasContent({ message }: SourceRecord): boolean {
  return isRecord(message) && (typeof message.content === 'string' || Array.isArray(message.content))
}

function isTelling(record: SourceRecord): boolean {
  const { type, uuid, sessionId, isSidechain, leafUuid, snapshot, timestamp } = record
  if (type === 'summary') return typeof leafUuid === 'string' && titleOf(record) !== undefined
  if (type === 'file-history-snapshot') return isRecord(snapshot)
  if (typeof sessionId !== 'string') return false
  if (type === 'ai-title' || type === 'custom-title') return titleOf(record) !== undefined
  if (LINES_ASIDE.has(type)) return typeof timestamp === 'string'
  return typeof type === 'string' && typeof uuid === 'string' && typeof isSidechain === 'boolean'
}
