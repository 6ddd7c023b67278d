import { chmodSync, lstatSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import {
  type AnySessionEvent,
  isSessionError,
  type SessionError,
  type SessionErrorCode,
  type SessionPersistence,
} from '@session-persistence/core'
import type { CaseContext } from './conformance-case.ts'
import { expectEqual, expectThat, Violation } from './expectation.ts'
import { firstDifference, show } from './first-difference.ts'
import { regularFiles } from './medium-files.ts'

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

/** Takes the bytes of all files. Nothing may have the medium open. */
export async function restMedium(context: CaseContext): Promise<RestingMedium> {
  const paths = await regularFiles(context.medium)
  const files = new Map(paths.map((path) => [path, readFileSync(path)]))
  const modes = new Map(paths.map((path) => [path, statSync(path).mode]))
  const write = (path: string, bytes: Uint8Array): void => {
    writeFileSync(path, bytes)
    chmodSync(path, modes.get(path) ?? 0o600)
  }
  return {
    files,
    damage: write,
    restore: async () => {
      for (const path of await regularFiles(context.medium)) if (!files.has(path)) rmSync(path)
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
 * typed error with one of `codes`; no byte and no time of the damaged file changes.
 */
export async function readDamaged(
  context: CaseContext,
  facts: {
    readonly id: string
    readonly path: string
    readonly original: readonly AnySessionEvent[]
    readonly codes: readonly SessionErrorCode[]
    readonly what: string
  },
): Promise<DamagedRead> {
  const { id, path, original, codes, what } = facts
  // A fixed time tells even a write that put the same bytes back.
  utimesSync(path, 1_000_000_000, 1_000_000_000)
  const before = readFileSync(path)
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
  expectThat(
    readFileSync(path).equals(before) && statSync(path).mtimeMs === 1_000_000_000_000,
    `${what}: the reader wrote`,
  )
  return { events, error }
}

/** Every file as it was, or as damaged: what a refused writer must leave. */
export async function expectUnchanged(
  context: CaseContext,
  before: ReadonlyMap<string, Buffer>,
  what: string,
): Promise<void> {
  const paths = await regularFiles(context.medium)
  expectEqual(paths, [...before.keys()], `${what}: files`)
  for (const [path, bytes] of before) expectThat(readFileSync(path).equals(bytes), `${what}: ${path} was changed`)
}

/** The bytes of all files now. */
export async function bytesNow(context: CaseContext): Promise<ReadonlyMap<string, Buffer>> {
  return new Map((await regularFiles(context.medium)).map((path) => [path, readFileSync(path)]))
}
