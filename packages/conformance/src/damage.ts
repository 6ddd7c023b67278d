import { chmodSync, lstatSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import {
  type AnySessionEvent,
  isSessionError,
  type SessionError,
  type SessionErrorCode,
  type SessionPersistence,
} from '@session-persistence/core'
import type { CaseContext } from './conformance-case.ts'
import { damageOf, noteDamage } from './describe-damage.ts'
import { expectEqual, expectThat, Violation } from './expectation.ts'
import { firstDifference, show } from './first-difference.ts'
import type { LocatedLog } from './located-log.ts'
import { regularFiles, regularFilesAtRest } from './medium-files.ts'

/** What a read of a damaged log gave: events, then perhaps an error. */
export interface DamagedRead {
  readonly events: readonly AnySessionEvent[]
  readonly error: SessionError | undefined
}

/** A medium at rest that can be damaged and put back, file by file. */
export interface RestingMedium {
  readonly files: ReadonlyMap<string, Buffer>
  /** Writes other bytes into one file, its permissions kept. */
  damage(path: string, bytes: Uint8Array): void
  /** Puts everything back as it was and removes what is new. */
  restore(): Promise<void>
}

/**
 * Takes the bytes of all files, those of the engine too. Nothing may have the medium open. What is only in records is
 * put back from `logs`.
 */
export async function restMedium(context: CaseContext, logs: readonly LocatedLog[] = []): Promise<RestingMedium> {
  const listed = async (): Promise<readonly string[]> => {
    return context.medium.listsFiles ? await regularFilesAtRest(context.medium) : []
  }
  const paths = await listed()
  const files = new Map(paths.map((path) => [path, readFileSync(path)]))
  const modes = new Map(paths.map((path) => [path, statSync(path).mode]))
  const write = (path: string, bytes: Uint8Array): void => {
    writeFileSync(path, bytes)
    chmodSync(path, modes.get(path) ?? 0o600)
  }
  return {
    files,
    damage: (path, bytes) => {
      noteDamage(context, basename(path), () => damageOf(files.get(path) ?? Buffer.alloc(0), bytes))
      write(path, bytes)
    },
    restore: async () => {
      for (const path of await listed()) if (!files.has(path)) rmSync(path)
      if (!context.medium.listsFiles) for (const log of logs) await log.store(log.parts)
      for (const [path, bytes] of files) {
        const sound = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path).equals(bytes)
        if (sound) continue
        rmSync(path, { recursive: true, force: true })
        write(path, bytes)
      }
    },
  }
}

/**
 * Reads a log through a fresh handle and checks what holds whatever the damage: an exact prefix, then the end or a
 * typed error with one of `codes`; no byte and no time of the damaged files changes, and no record.
 */
export async function readDamaged(
  context: CaseContext,
  facts: {
    readonly id: string
    /** The damaged files; default all that are not the engine's. */
    readonly paths?: readonly string[]
    readonly original: readonly AnySessionEvent[]
    readonly codes: readonly SessionErrorCode[]
    readonly what: string
  },
): Promise<DamagedRead> {
  const { id, original, codes, what } = facts
  const paths = facts.paths ?? (context.medium.listsFiles ? await regularFiles(context.medium) : [])
  // A backend whose calls are all synchronous would hold the event loop, and every deadline, for the whole case.
  await new Promise((resolve) => setImmediate(resolve))
  // A fixed time tells even a write that put the same bytes back.
  for (const path of paths) utimesSync(path, 1_000_000_000, 1_000_000_000)
  const before = await storedNow(context, id, paths)
  const events: AnySessionEvent[] = []
  let error: SessionError | undefined
  let persistence: SessionPersistence | undefined
  try {
    // A backend that keeps all sessions in one file may see the damage when it opens.
    persistence = await context.open()
    for await (const event of persistence.read(id)) events.push(event)
  } catch (thrown) {
    if (!isSessionError(thrown)) throw new Violation(`${what}: an untyped error: ${show(thrown)}`)
    expectThat(codes.includes(thrown.code), `${what}: expected ${codes.join(' or ')}, found ${show(thrown)}`)
    error = thrown
  } finally {
    await persistence?.close()
  }
  const difference = firstDifference(events, original.slice(0, events.length))
  if (difference !== undefined) {
    throw new Violation(
      `${what}: wrong data at ${difference.path}: expected ${difference.expected}, found ${difference.found}`,
    )
  }
  const untouched = paths.every((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs === 1_000_000_000_000)
  expectThat(untouched && (await storedNow(context, id, paths)).equals(before), `${what}: the reader wrote`)
  return { events, error }
}

/** What {@link readDamaged} must know of a log that is now damaged. */
export function damagedFacts({ id, path, events }: LocatedLog): {
  readonly id: string
  readonly original: readonly AnySessionEvent[]
  readonly paths?: readonly string[]
} {
  return { id, original: events, ...(path === undefined ? {} : { paths: [path] }) }
}

/** Everything stored that a reader must leave: files, or records where there are no files. */
async function storedNow({ medium }: CaseContext, id: string, paths: readonly string[]): Promise<Buffer> {
  if (medium.listsFiles) return Buffer.concat(paths.map((path) => readFileSync(path)))
  return Buffer.concat((await medium.records?.read(id)) ?? [])
}

/** Every file and record as it was, or as damaged: what a refused writer must leave. */
export async function expectUnchanged(
  context: CaseContext,
  before: ReadonlyMap<string, Buffer>,
  what: string,
): Promise<void> {
  const now = await bytesNow(context)
  expectEqual([...now.keys()], [...before.keys()], `${what}: files`)
  for (const [path, bytes] of before) expectThat(now.get(path)?.equals(bytes) === true, `${what}: ${path} was changed`)
}

/** The bytes of all files now, those of the engine left out; without files, of the records of session `s`. */
export async function bytesNow({ medium }: CaseContext): Promise<ReadonlyMap<string, Buffer>> {
  if (!medium.listsFiles) return new Map([['records', Buffer.concat((await medium.records?.read('s')) ?? [])]])
  return new Map((await regularFiles(medium)).map((path) => [path, readFileSync(path)]))
}
