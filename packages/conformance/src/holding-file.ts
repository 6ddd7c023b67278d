import type { AnySessionEvent } from '@session-persistence/core'
import { changedFile, contents } from './changed-file.ts'
import type { CaseContext } from './conformance-case.ts'
import { storeSession } from './stored-events.ts'
import { turnEvents } from './workload.ts'

/** The file that holds a session, alone or with others. */
export interface HoldingFile {
  readonly path: string
  readonly events: readonly AnySessionEvent[]
}

/** Stores a session and finds the file that it went into, at rest. Skips where there is none. */
export async function storeInFileAtRest(context: CaseContext, id: string): Promise<HoldingFile> {
  const first = await context.open()
  await storeSession(first, 'other', [turnEvents(1)])
  await first.close()
  const before = await contents(context)
  const second = await context.open()
  const events = await storeSession(second, id, [turnEvents(1), turnEvents(2)])
  await second.close()
  const after = await contents(context)
  const added = [...after].filter(([file]) => !before.has(file)).sort(([, a], [, b]) => b.length - a.length)
  const path = added[0]?.[0] ?? changedFile(before, after)?.path
  return path === undefined ? context.skip('no file of this medium holds the session') : { path, events }
}
