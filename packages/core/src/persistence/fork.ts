/** A self-contained child of a stored session, from a stable position (contract family FORK). */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { SessionHeader } from '../event/header.ts'
import { LogFold } from '../projection/log-fold.ts'
import { turnsProjection } from '../projection/turns.ts'
import { intake } from '../session/event-intake.ts'
import { eventPages } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import type { StorageReader, StorageWriter } from '../storage/session-storage.ts'
import { loadLog } from './load-log.ts'
import type { ForkArguments } from './operation-arguments.ts'

type ForkPosition = Pick<ForkArguments, 'at' | 'before' | 'turn'>

/** The last seq that the child shares, -1 for none. INVALID_ARGUMENT for a position that is not stable or not there. */
export async function forkPosition(reader: StorageReader, settings: Settings, position: ForkPosition): Promise<number> {
  const { at, before, turn } = position
  if ([at, before, turn].filter((given) => given !== undefined).length > 1) {
    throw new SessionError('INVALID_ARGUMENT', 'give a fork one of `at`, `before` and `turn`')
  }
  if (turn !== undefined) return await endOfTurn(reader, settings, turn)
  const wanted = at ?? (before === undefined ? undefined : before - 1)
  const end = reader.tail.nextSeq - 1
  if (wanted !== undefined && wanted > end) {
    throw new SessionError('INVALID_ARGUMENT', `a fork position must be a seq from 0 to ${end}`, { found: wanted })
  }
  // One pass finds the newest stable position at or before the wanted one, which is also what the error can offer.
  let stable = -1
  await loadLog(reader, settings, {
    ...(wanted === undefined ? {} : { to: wanted }),
    fromStart: true,
    each: (fold) => {
      if (fold.isStable) stable = fold.nextSeq - 1
    },
  })
  if (wanted !== undefined && wanted !== stable) {
    throw new SessionError(
      'INVALID_ARGUMENT',
      `seq ${wanted} lies inside a turn; the nearest stable position before it is ${stable < 0 ? '`before: 0`' : stable}`,
      { seq: wanted, expected: stable, found: wanted },
    )
  }
  return stable
}

/** The seq of the `turn/end` of a turn. */
async function endOfTurn(reader: StorageReader, settings: Settings, turn: number): Promise<number> {
  let found: number | undefined
  let turns = 0
  await loadLog(reader, settings, {
    fromStart: true,
    each: (fold) => {
      turns = fold.state(turnsProjection).turns
      if (found === undefined && turns === turn && turn > 0 && fold.isStable) found = fold.nextSeq - 1
    },
  })
  if (found !== undefined) return found
  const why = turn > 0 && turn <= turns ? `turn ${turn} has not ended` : `the log has turns 1 to ${turns}`
  throw new SessionError('INVALID_ARGUMENT', `no end of turn ${turn} to fork at: ${why}`, { found: turn })
}

export interface ForkedLog {
  readonly fold: LogFold
  readonly head: HeadReceipt
}

/** Copies the prefix into a staged log, adds `session/forked`, and makes the child appear whole. */
export async function writeFork(
  reader: StorageReader,
  writer: StorageWriter,
  settings: Settings,
  fork: { readonly parent: string; readonly at: number; readonly reason?: string },
): Promise<ForkedLog> {
  const fold = new LogFold(settings.projections)
  if (fork.at >= 0) {
    for await (const page of eventPages(reader, settings.upgrades, { from: 0, to: fork.at })) {
      for (const event of page) fold.accept(event)
      await writer.append(page)
    }
  }
  const data = { parent: fork.parent, at: fork.at, ...(fork.reason === undefined ? {} : { reason: fork.reason }) }
  const marker: AnySessionEvent = intake(
    { type: 'session/forked', data },
    fold.nextSeq,
    settings.clock(),
    settings,
  ).event
  fold.accept(marker)
  await writer.append([marker])
  await writer.publish()
  return { fold, head: headReceipt(marker) }
}

export function childHeader(
  parent: SessionHeader,
  settings: Settings,
  child: { readonly id: string; readonly at: number; readonly labels: ForkArguments['labels'] },
): SessionHeader {
  return {
    version: settings.upgrades.current,
    id: child.id,
    createdAt: settings.clock(),
    messageFormat: parent.messageFormat,
    ...(parent.cwd === undefined ? {} : { cwd: parent.cwd }),
    parent: parent.id,
    seedLength: child.at + 1,
    origin: 'fork',
    ...(child.labels === undefined ? {} : { labels: child.labels }),
  }
}
