/** What a writer must know of the end of a log before it goes on there. */
import { SessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { readPageBackwards } from './log-page.ts'
import { SEQ_SPAN } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'

/** CORRUPT unless the last record is whole, ends where the session's row says, and nothing comes behind it. */
export function requireIntactTail(connection: Connection, row: SessionRow): void {
  const { number, id, nextSeq, updatedAt } = row
  const base = number * SEQ_SPAN
  const behind = 'SELECT count(*) FROM (SELECT 1 FROM record WHERE key BETWEEN ? AND ? LIMIT 1)'
  if (connection.number(behind, base + nextSeq, base + SEQ_SPAN - 1) > 0) {
    throw damaged(connection, id, nextSeq, 'there are records behind its end')
  }
  if (nextSeq === 0) return
  const last = nextSeq - 1
  const { records, damage } = readPageBackwards(connection, row, { from: last, to: last, elideChunks: false })
  if (damage !== undefined) throw damage
  const event = records[0]
  if (event === undefined || !('time' in event) || event.time !== updatedAt) {
    throw damaged(connection, id, last, 'its last record is not the one that its row tells of')
  }
}

function damaged({ path }: Connection, sessionId: string, seq: number, what: string): SessionError {
  return new SessionError('CORRUPT', `the log is damaged: ${what}: ${path}`, { sessionId, seq, path })
}
