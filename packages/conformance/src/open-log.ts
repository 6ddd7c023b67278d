import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { AnySessionEvent, Session, SessionPersistence } from '@session-persistence/core'
import { changedFile, contents } from './changed-file.ts'
import type { CaseContext } from './conformance-case.ts'
import { appendEach } from './stored-events.ts'
import { turnEvents } from './workload.ts'

/** A session whose writer is open, and a hand that reaches into its log past that. */
export interface OpenLog {
  readonly session: Session
  /** Events stored so far. */
  readonly events: readonly AnySessionEvent[]
  /** Somebody else adds to the stored log. */
  meddle(): Promise<void>
  /** Everything that is stored of it now. */
  stored(): Promise<Buffer>
}

/** A session with one turn stored and its writer still open. Skips where nothing of it can be seen. */
export async function growStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
): Promise<OpenLog> {
  const session = await persistence.create({ id })
  const half = turnEvents(1).length / 2
  const events = [...appendEach(session, turnEvents(1).slice(0, half))]
  await session.flush()
  const { records } = context.medium
  const before = records === undefined ? await contents(context) : new Map<string, Buffer>()
  events.push(...appendEach(session, turnEvents(1).slice(half)))
  await session.flush()
  if (records !== undefined) {
    return {
      session,
      events,
      meddle: async () => {
        context.note('the kit: the last record stored once more, while the writer is open')
        const stored = await records.read(id)
        await records.write(id, [...stored, ...stored.slice(-1)])
      },
      stored: async () => Buffer.concat(await records.read(id)),
    }
  }
  const path = changedFile(before, await contents(context))?.path
  if (path === undefined) return context.skip('no file of this medium changes while a writer is open')
  return {
    session,
    events,
    meddle: async () => {
      context.note(`the kit: ${basename(path)}: a foreign line appended, while the writer is open`)
      appendFileSync(path, '{"foreign":"line"}\n')
    },
    // A file that the backend took away is another log, and no error of the kit.
    stored: async () => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0)),
  }
}
