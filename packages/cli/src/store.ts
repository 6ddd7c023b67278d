import { lstat, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isSessionError, SessionError, type SessionPersistence } from '@session-persistence/core'
import { type Command, Option } from 'commander'
import {
  BACKENDS,
  type BackendLocation,
  openPersistence,
  type PersistenceOptions,
  parseLocation,
} from 'session-persistence'
import { importedFormats } from './message-formats.ts'
import { otherKindOfStore } from './store-kind.ts'
import { systemError } from './system-error.ts'

export const defaultLocation = 'jsonl:./sessions'

/** The two options that say where sessions live. */
export interface StoreOptions {
  readonly root?: string
  readonly backend?: string
}

export function addStoreOptions(command: Command): Command {
  const locations = BACKENDS.filter(({ place }) => place !== '').map(({ scheme, place }) => `${scheme}:${place}`)
  const backend = new Option('--backend <location>', `where sessions live: ${locations.join(' or ')}`)
    .env('SESSION_PERSISTENCE_BACKEND')
    .default(defaultLocation)
  return command.addOption(new Option('--root <directory>', 'short for --backend jsonl:DIRECTORY')).addOption(backend)
}

/** What `--root` and `--backend` say together. INVALID_ARGUMENT for a location as root, which would be a directory of that name. */
export function locationOf({ root, backend }: StoreOptions): string {
  if (root === undefined) return backend ?? defaultLocation
  if (BACKENDS.some(({ scheme }) => root.startsWith(`${scheme}:`))) {
    throw new SessionError('INVALID_ARGUMENT', `--root takes a directory, --backend a location: --backend ${root}`)
  }
  return `jsonl:${root}`
}

/**
 * Takes a location apart and looks whether there is a store. NOT_FOUND when there is none, unless `mayBeNew`: a mistyped
 * directory must neither look like an empty store nor become one.
 */
export async function findStore(location: string, mayBeNew = false): Promise<BackendLocation> {
  const found = parseLocation(location)
  const { backend, place } = found
  if (backend.place === '') {
    throw new SessionError('NOT_SUPPORTED', `${backend.scheme}: keeps nothing between two commands; name a directory`)
  }
  if (backend.place === 'DIRECTORY') {
    await checkDirectory(place, mayBeNew)
    const other = await otherKindOfStore(place, backend.scheme)
    if (other !== undefined) {
      const message = `${resolve(place)} holds sessions of ${other}:, and none of ${backend.scheme}:`
      throw new SessionError('INVALID_ARGUMENT', message, { path: resolve(place) })
    }
  } else if (!mayBeNew) await checkDatabase(place)
  return found
}

/** The place of a store for a command that only one backend has; NOT_SUPPORTED for a store of another one. */
export async function findStoreOf(scheme: string, does: string, options: StoreOptions): Promise<string> {
  const { backend, place } = await findStore(locationOf(options))
  if (backend.scheme === scheme) return place
  throw new SessionError(
    'NOT_SUPPORTED',
    `${does} is for ${scheme}: stores; ${backend.scheme}: has nothing of the kind`,
  )
}

/** Opens the store that a command works on; see {@link findStore}. */
export async function openStore(
  options: StoreOptions,
  { mayBeNew = false, ...persistenceOptions }: PersistenceOptions & { readonly mayBeNew?: boolean } = {},
): Promise<SessionPersistence> {
  const location = locationOf(options)
  await findStore(location, mayBeNew)
  return openPersistence(location, {
    messageFormats: importedFormats,
    // Every command flushes before it says that something is done, and reports what that says.
    onFailure: () => undefined,
    ...persistenceOptions,
  })
}

/** What a database is, the backend says; here only whether there is one. */
async function checkDatabase(path: string): Promise<void> {
  const file = resolve(path)
  try {
    await lstat(file)
  } catch (error) {
    throw systemError(error, 'the database of sessions could not be looked at', file)
  }
}

async function checkDirectory(path: string, mayBeNew: boolean): Promise<void> {
  const directory = resolve(path)
  try {
    if ((await stat(directory)).isDirectory()) return
  } catch (error) {
    const failure = systemError(error, 'the directory of sessions could not be looked at', directory)
    if (!isSessionError(failure, 'NOT_FOUND')) throw failure
    // A dangling symbolic link is not a place to build a store in.
    const dangling = await lstat(directory).then(
      () => true,
      () => false,
    )
    if (mayBeNew && !dangling) return
    throw new SessionError('NOT_FOUND', `there is no directory of sessions at ${directory} (see --root)`, {
      path: directory,
    })
  }
  throw new SessionError('INVALID_ARGUMENT', `${directory} is not a directory of sessions`, { path: directory })
}
