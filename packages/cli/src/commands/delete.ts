import { isSessionError, SessionError, type SessionPersistence } from '@session-persistence/core'
import { Command } from 'commander'
import type { Runtime } from '../runtime.ts'
import { noSuchFullId } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

export function deleteCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('delete').description('delete sessions with everything that belongs to them; forks survive'),
  )
    .argument('<id...>', 'full session ids: a part of one never deletes anything')
    .option('--json', 'JSON lines: { id, deleted } a session')
    .addHelpText(
      'after',
      `
A session that somebody is writing is not deleted (LOCKED). There is no undo.

Example:
  session-persistence delete 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10`,
    )
    .action(async (ids: readonly string[], options: StoreOptions & { readonly json?: true }) => {
      await using persistence = await openStore(options)
      for (const id of ids) {
        runtime.signal.throwIfAborted()
        if (!(await isStored(persistence, id)) || !(await persistence.delete(id))) {
          throw new SessionError('NOT_FOUND', noSuchFullId, { sessionId: id })
        }
        await runtime.out.write(options.json ? `${safeJson({ id, deleted: true })}\n` : `deleted ${safeLine(id)}\n`)
      }
    })
}

/** Deleting what is not there still takes its lock; a mistyped id in a mistyped directory must leave nothing. */
async function isStored(persistence: SessionPersistence, id: string): Promise<boolean> {
  try {
    for await (const _first of persistence.read(id, { to: 0 })) break
    return true
  } catch (error) {
    if (isSessionError(error, 'INVALID_ID')) throw error
    // What cannot be read is there, and can be deleted.
    return !isSessionError(error, 'NOT_FOUND')
  }
}
