/** Every record checked by the backend, every event by the grammar; problems are collected, never thrown. */
import { isSessionError } from '../errors.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import { LOST_EVENT_TYPE } from '../event/lost-event.ts'
import { extensionTypes } from '../projection/extension-types.ts'
import { turnsProjection } from '../projection/turns.ts'
import { describeMissing } from '../recovery/recovery-report.ts'
import type { Settings } from '../session/settings.ts'
import type { SessionStorage, StorageProblem } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'
import { checkHead, loadLog } from './load-log.ts'
import type { VerifyReport } from './session-persistence.ts'
import { unknownTypes } from './unknown-types.ts'

export interface VerifyOptions {
  readonly expectHead?: HeadReceipt
  readonly signal?: AbortSignal
}

type Problem = VerifyReport['problems'][number]

/** Rejects for what is not about the log: NOT_FOUND, IO, PERMISSION_DENIED, an abort. */
export async function verifyLog(
  storage: SessionStorage,
  settings: Settings,
  id: string,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const check = await storage.check(id, options.signal)
  const problems: Problem[] = [...check.problems]
  let head: HeadReceipt = headReceipt(undefined)
  let unknown: readonly string[] = []
  const notes: string[] = [...(check.notes ?? [])]
  // What the backend found already explains why the log cannot be folded; saying it twice would not help.
  if (problems.length === 0) {
    const problem = await asProblem(() =>
      withReader(storage.openReader(id), async (reader) => {
        const signal = options.signal === undefined ? {} : { signal: options.signal }
        const witness = { again: () => storage.openReader(id), always: true }
        const loaded = await loadLog(reader, settings, { fromStart: true, chunks: true, witness, ...signal })
        head = loaded.head
        unknown = unknownTypes(settings, loaded.fold.state(extensionTypes))
        if (loaded.missing !== undefined) notes.push(describeMissing(loaded.missing))
        const { lostAt } = loaded.fold.state(turnsProjection)
        if (lostAt !== undefined) notes.push(describeLost(lostAt))
        if (options.expectHead !== undefined) await checkHead(reader, settings, options.expectHead)
      }),
    )
    if (problem !== undefined) problems.push(problem)
  }
  return {
    id,
    ok: problems.length === 0,
    events: check.events,
    bytes: check.bytes,
    head,
    ...(check.torn === undefined ? {} : { torn: check.torn }),
    problems,
    notes,
    unknownTypes: unknown,
  }
}

function describeLost(newest: number): string {
  return `events that were stored once are lost: stand-ins (${LOST_EVENT_TYPE}) take their places, the newest at seq ${newest}`
}

async function asProblem(look: () => Promise<void>): Promise<Problem | undefined> {
  try {
    await look()
    return undefined
  } catch (error) {
    if (!isSessionError(error) || !isAboutTheLog(error.code)) throw error
    return {
      code: error.code,
      message: error.message,
      ...(error.seq === undefined ? {} : { seq: error.seq }),
      ...(error.offset === undefined ? {} : { offset: error.offset }),
    }
  }
}

function isAboutTheLog(code: string): code is StorageProblem['code'] | 'INVALID_EVENT' {
  return code === 'CORRUPT' || code === 'INVALID_EVENT' || code === 'UNSUPPORTED_VERSION'
}
