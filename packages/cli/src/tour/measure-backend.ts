/** What a person who chooses a backend wants to see, measured on one real log. */
import {
  type AnySessionEvent,
  BACKENDS,
  type EventCatalog,
  type EventInput,
  isCoreType,
  isSessionError,
  openPersistence,
  type SessionHeader,
  type SessionPersistence,
} from 'session-persistence'
import { importedFormats } from '../message-formats.ts'

/** A log in memory, so that every backend gets exactly the same. */
export interface SampleLog {
  readonly header: SessionHeader
  readonly events: readonly AnySessionEvent[]
  /** UTF-8 bytes of the events as unpacked JSON lines: what sizes are compared with. */
  readonly jsonBytes: number
}

export interface Rate {
  readonly events: number
  readonly seconds: number
  readonly perSecond: number
}

export interface Measurement {
  readonly backend: string
  readonly durability: 'memory' | 'process' | 'power'
  readonly modes: { readonly [mode: string]: string }
  /** Append and flush, one event at a time and a hundred at a time; undefined when the log holds what only an import may store. */
  readonly appendEach: Rate | undefined
  readonly appendHundred: Rate | undefined
  /** The whole log as one import. */
  readonly store: Rate
  /** Every event, checked and decoded. */
  readonly replay: Rate
  /** From a new reader, in milliseconds. */
  readonly lastHundredMs: number
  readonly bytes: number
}

export type BackendResult =
  | { readonly kind: 'measured'; readonly measurement: Measurement }
  | { readonly kind: 'unavailable'; readonly backend: string; readonly reason: string }

const singlesMax = 300
const batchedMax = 20_000
const replaySecondsMin = 0.2

/** Measures every backend of this installation, one after the other. `placeFor` names a fresh place for a scheme. */
export async function* measureBackends(
  log: SampleLog,
  placeFor: (scheme: string) => string,
  signal: AbortSignal,
): AsyncGenerator<BackendResult> {
  for (const backend of BACKENDS) {
    signal.throwIfAborted()
    const availability = await backend.availability()
    if (!availability.available) {
      yield { kind: 'unavailable', backend: backend.scheme, reason: availability.reason }
      continue
    }
    const location = `${backend.scheme}:${backend.place === '' ? '' : placeFor(backend.scheme)}`
    yield { kind: 'measured', measurement: await measureBackend(location, backend.scheme, log, signal) }
  }
}

async function measureBackend(
  location: string,
  backend: string,
  log: SampleLog,
  signal: AbortSignal,
): Promise<Measurement> {
  await using persistence = await openPersistence(location, {
    events: catalogOf(log),
    messageFormats: importedFormats,
    onFailure: () => undefined,
  })
  const { description } = persistence
  const stored = await timed(async () => {
    const { id } = await persistence.importLog({ header: log.header, events: pages(log.events) }, { signal })
    return { id, events: log.events.length }
  })
  const { id } = stored.result
  const bytes = (await persistence.inspect(id)).bytes
  const replay = await measureReplay(persistence, id, signal)
  const lastHundredMs = await measureTail(persistence, id, log.events.length)
  const appendEach = await measureAppend(persistence, log, { events: singlesMax, perFlush: 1 }, signal)
  const appendHundred = await measureAppend(persistence, log, { events: batchedMax, perFlush: 100 }, signal)
  return {
    backend,
    durability: description.capabilities.durability,
    modes: description.modes,
    appendEach,
    appendHundred,
    store: rate(log.events.length, stored.seconds),
    replay,
    lastHundredMs,
    bytes,
  }
}

/** Extension types of the log, so that appending them is not refused. */
function catalogOf({ events }: SampleLog): EventCatalog {
  const extensions = events.filter(({ type }) => !isCoreType(type))
  return Object.fromEntries(extensions.map(({ type, ignorable }) => [type, { ignorable: ignorable === true }]))
}

async function* pages(events: readonly AnySessionEvent[]): AsyncGenerator<readonly AnySessionEvent[]> {
  for (let start = 0; start < events.length; start += 1000) yield events.slice(start, start + 1000)
}

async function measureReplay(persistence: SessionPersistence, id: string, signal: AbortSignal): Promise<Rate> {
  // Small logs are over too soon for the clock: whole passes until enough time went by.
  let events = 0
  let seconds = 0
  while (seconds < replaySecondsMin) {
    const pass = await timed(async () => {
      let passed = 0
      for await (const _event of persistence.read(id, { signal })) passed += 1
      return passed
    })
    if (pass.result === 0) return rate(0, pass.seconds)
    events += pass.result
    seconds += pass.seconds
  }
  return rate(events, seconds)
}

async function measureTail(persistence: SessionPersistence, id: string, events: number): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 9; round += 1) {
    const { seconds } = await timed(async () => {
      for await (const _event of persistence.read(id, { from: Math.max(0, events - 100) }));
    })
    times.push(seconds * 1000)
  }
  return times.sort((a, b) => a - b)[4] ?? 0
}

async function measureAppend(
  persistence: SessionPersistence,
  log: SampleLog,
  { events, perFlush }: { readonly events: number; readonly perFlush: number },
  signal: AbortSignal,
): Promise<Rate | undefined> {
  const part = log.events.slice(0, events)
  const { messageFormat } = log.header
  const session = await persistence.create({ messageFormat, origin: 'tour' })
  try {
    const { seconds } = await timed(async () => {
      for (let start = 0; start < part.length; start += perFlush) {
        signal.throwIfAborted()
        session.appendAll(part.slice(start, start + perFlush).map(asInput))
        await session.flush()
      }
    })
    return rate(part.length, seconds)
  } catch (error) {
    // An imported log may hold events that only recovery or an import writes; then there is no honest number.
    if (isSessionError(error, 'INVALID_EVENT') || isSessionError(error, 'UNKNOWN_EVENT')) return undefined
    throw error
  } finally {
    await session.abandon()
  }
}

function asInput({ type, data, surface, sources }: AnySessionEvent): EventInput {
  const options = { ...(surface === undefined ? {} : { surface }), ...(sources === undefined ? {} : { sources }) }
  // The log was checked when it was read; append checks it again.
  return { type, data, ...options } as EventInput
}

async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly seconds: number }> {
  const start = performance.now()
  const result = await work()
  return { result, seconds: Math.max(performance.now() - start, 0.001) / 1000 }
}

function rate(events: number, seconds: number): Rate {
  return { events, seconds, perSecond: events / seconds }
}
