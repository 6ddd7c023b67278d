/** A database, and its write-ahead log, read after they were changed. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { openSqlite, sqliteStorage } from '@session-persistence/sqlite'
import { type DamageVerdict, readDamaged } from '../scenario/read-damaged.ts'
import type { DamageSubject } from './damaged-log.ts'
import type { LoggedDatabase, SmallDatabase, StoredSession } from './small-database.ts'

/** Lays a database down in a place where there may be one already, without anything beside it. */
export function layDown(file: string, database: Buffer, log?: Buffer): void {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true })
  writeFileSync(file, database, { mode: 0o600 })
  if (log !== undefined) writeFileSync(`${file}-wal`, log, { mode: 0o600 })
}

/** What the interface gives of it: the list, every session, and what a check says. */
export async function databaseVerdict(file: string, sessions: readonly StoredSession[]): Promise<DamageVerdict> {
  const storage = sqliteStorage({ file })
  try {
    let noticed = false
    const verdicts: DamageVerdict[] = []
    for (const { id, events } of sessions) {
      const verdict = await readDamaged(storage, id, events)
      if (verdict.kind === 'violation') return verdict
      verdicts.push(verdict)
      noticed ||= verdict.kind === 'refused'
      if (verdict.kind === 'same') noticed ||= (await storage.check(id)).problems.length > 0
    }
    const listed = await storage.list({ limit: 10 })
    noticed ||= listed.some(({ state }) => state !== 'ready')
    if (noticed) return { kind: 'refused' }
    const short = verdicts.find(({ kind }) => kind === 'prefix')
    return short ?? { kind: listed.length === sessions.length ? 'same' : 'refused' }
  } catch (error) {
    if (!isSessionError(error)) return { kind: 'violation', problem: `an error without a type: ${String(error)}` }
    if (error.code === 'CORRUPT' || error.code === 'UNSUPPORTED_VERSION') return { kind: 'refused' }
    return { kind: 'violation', problem: `${error.code}: ${error.message}` }
  } finally {
    await storage.close()
  }
}

/** A changed bit or a cut must be noticed, or change nothing: what is given is never less than what was stored. */
export function damagedDatabase(directory: string, { database, sessions }: SmallDatabase): DamageSubject {
  const file = join(directory, 'sessions.db')
  const verdictOn = async (changed: Buffer): Promise<DamageVerdict> => {
    layDown(file, changed)
    const verdict = await databaseVerdict(file, sessions)
    if (verdict.kind !== 'prefix') return verdict
    return { kind: 'violation', problem: `${verdict.events} events, without an error` }
  }
  return { name: 'sqlite, database', whole: database, verdictOn }
}

/** A changed log is a lost suffix of whole batches, of which nobody can tell; but who kept a head receipt can. */
export async function damagedWriteAheadLog(directory: string, whole: LoggedDatabase): Promise<DamageSubject> {
  const file = join(directory, 'sessions.db')
  const { session, moved, ends, database } = whole
  layDown(file, database, whole.log)
  const persistence = await openSqlite({ file })
  const { head } = await persistence.verify(session.id)
  await persistence.close()
  const verdictOn = async (changed: Buffer): Promise<DamageVerdict> => {
    layDown(file, database, changed)
    const verdict = await databaseVerdict(file, [session])
    if (verdict.kind === 'violation' || verdict.kind === 'refused') return verdict
    const left = verdict.kind === 'prefix' ? verdict.events : session.events.length
    if (left < moved || !ends.includes(left)) return { kind: 'violation', problem: `${left} events: no whole batches` }
    const opened = await openSqlite({ file })
    const { ok } = await opened.verify(session.id, { expectHead: head })
    await opened.close()
    if (ok === (verdict.kind === 'same')) return verdict
    return { kind: 'violation', problem: `${left} events, and a head receipt ${ok ? 'misses nothing' : 'is not met'}` }
  }
  return { name: 'sqlite, write-ahead log', whole: whole.log, verdictOn }
}
