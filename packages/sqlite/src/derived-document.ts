/** The disposable documents beside a log. A damaged one is as good as none. */
import { crc32 } from 'node:zlib'
import type { DerivedDocument } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import type { SessionRow } from './session-row.ts'

export function readDerived(
  connection: Connection,
  { number, salt }: SessionRow,
  name: DerivedDocument,
): string | undefined {
  const row = connection.row('SELECT content, crc FROM derived WHERE session = ? AND name = ?', number, name)
  const [content, crc] = row ?? []
  return typeof content === 'string' && crc32(content, salt) === crc ? content : undefined
}

export function writeDerived(
  connection: Connection,
  { number, salt }: SessionRow,
  name: DerivedDocument,
  content: string,
): void {
  connection.run(
    'INSERT INTO derived (session, name, content, crc) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content, crc = excluded.crc',
    number,
    name,
    content,
    crc32(content, salt),
  )
}
