import type { SourceRecord } from './source/decode-line.ts'
import { headRecords } from './source/head-records.ts'
import { isRecord } from './source/record-fields.ts'

/** What a file is, in words for the one who named it. */
export interface ForeignFormat {
  readonly code: 'INVALID_ARGUMENT' | 'NOT_SUPPORTED'
  readonly what: string
}

const MAGIC: readonly (readonly [bytes: string, what: string])[] = [
  ['SQLite format 3\0', 'a SQLite database'],
  ['\x1f\x8b', 'gzip data; unpack it first'],
  ['\x28\xb5\x2f\xfd', 'Zstandard data; unpack it first'],
  ['PK\x03\x04', 'a zip archive; unpack it first'],
  ['\x7fELF', 'a program'],
  ['\x89PNG', 'an image'],
  ['%PDF', 'a PDF document'],
]

const has = (record: SourceRecord, ...names: readonly string[]): boolean => names.every((name) => name in record)

/** How logs of other programs look: enough to name them, not to read them. */
const PROGRAMS: readonly (readonly [what: string, matches: (record: SourceRecord) => boolean])[] = [
  ['a stored session of this program; open its store with --root instead of naming the file', isStoredLog],
  ['a Qwen Code log', (r) => has(r, 'uuid', 'sessionId') && isRecord(r.message) && has(r.message, 'parts')],
  ['a Factory Droid log', isDroidRecord],
  ['a Copilot CLI log', (r) => r.type === 'session.start' && has(r, 'id', 'data', 'parentId')],
  [
    'the output of Claude Code in a pipe; import the transcript, a file below ~/.claude/projects',
    (r) => has(r, 'session_id') && ((r.type === 'system' && r.subtype === 'init') || isRecord(r.message)),
  ],
  ['a Pi session log', (r) => r.type === 'session' && has(r, 'id', 'timestamp') && !has(r, 'createdAt')],
  ['a Codex log', (r) => r.type === 'session_meta' || (has(r, 'timestamp', 'payload') && has(r, 'type'))],
  ['a Codex app-server log', (r) => has(r, 'method', 'params') || has(r, 'ts', 'dir', 'kind')],
  ['a JSON-RPC log', (r) => has(r, 'jsonrpc')],
  ['an OpenHands trajectory', (r) => has(r, 'history', 'instance_id') || has(r, 'source', 'action', 'args')],
  ['a SWE-agent trajectory', (r) => has(r, 'trajectory')],
]

/** Names what no reader is for, by a file's first bytes. */
export function foreignFormat(head: Buffer): ForeignFormat {
  const latin1 = head.subarray(0, 64).toString('latin1')
  const magic = MAGIC.find(([bytes]) => latin1.startsWith(bytes))
  if (magic !== undefined) return { code: 'INVALID_ARGUMENT', what: magic[1] }
  if (head.every((byte) => byte === 0)) return { code: 'INVALID_ARGUMENT', what: 'a file of NUL bytes' }
  const records = headRecords(head)
  const program = PROGRAMS.find(([, matches]) => records.some(matches))
  if (program !== undefined) return { code: 'NOT_SUPPORTED', what: program[0] }
  if (records.length > 0) return { code: 'NOT_SUPPORTED', what: 'JSON lines of a program that is not known here' }
  if (isBinary(head)) return { code: 'INVALID_ARGUMENT', what: 'a binary file' }
  const start = head.subarray(0, 4096).toString('utf8').trimStart()
  if (/^[[{]/.test(start)) return { code: 'NOT_SUPPORTED', what: 'JSON, but not lines of records that are known here' }
  return { code: 'INVALID_ARGUMENT', what: 'text, but no session log' }
}

function isStoredLog(record: SourceRecord): boolean {
  return (
    record.format === 'session-persistence' ||
    (has(record, 'seq', 'time', 'type', 'data') && Object.keys(record)[0] === 'seq')
  )
}

function isDroidRecord(record: SourceRecord): boolean {
  const { type } = record
  if (type === 'session_start') return has(record, 'id', 'sessionTitle')
  if (type === 'tool_call')
    return has(record, 'toolName', 'parameters') && (has(record, 'sessionId') || has(record, 'session_id'))
  return false
}

/** Control characters that text has no use for. */
function isBinary(head: Buffer): boolean {
  const sample = head.subarray(0, 4096)
  let odd = 0
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) odd++
  return odd > sample.length / 100
}
