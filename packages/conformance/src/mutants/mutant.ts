/**
 * Backends that are wrong in one way each. They prove that the cases can fail: every MUST clause has at least one
 * mutant that it catches, and the table of what each mutant fails is exact.
 */
import type {
  AnySessionEvent,
  PersistenceOptions,
  ReadOptions,
  Session,
  SessionPersistence,
  SessionView,
} from '@session-persistence/core'
import type { Harness, Medium } from '../harness.ts'

/** What all handles of one medium share, so that a mutant can be wrong across handles. */
export interface MutantMedium {
  readonly location: string | undefined
  /** True in a process that was given the medium by its location. */
  readonly elsewhere: boolean
  readonly files: () => Promise<readonly string[]>
  /** Facts that a mutant keeps between calls, by a name of its own. */
  readonly memory: Map<string, unknown>
}

export interface Mutant {
  readonly name: string
  /** What is wrong with it, one sentence. */
  readonly wrong: string
  /** The clause that it was made for; the kill table says what else catches it. */
  readonly aimedAt: string
  readonly options?: (options: PersistenceOptions) => PersistenceOptions
  readonly persistence?: (
    inner: SessionPersistence,
    medium: MutantMedium,
    options: PersistenceOptions,
  ) => Partial<SessionPersistence>
  readonly session?: (inner: Session, medium: MutantMedium, how: 'create' | 'resume' | 'fork') => Partial<Session>
  readonly view?: (inner: SessionView) => Partial<SessionView>
}

/** `inner` with some members replaced. */
export function overlay<T extends object>(inner: T, changes: Partial<T>): T {
  return new Proxy(inner, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return Reflect.get(changes, key) as unknown
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/**
 * The harness of a sound backend, made wrong. `module` exports the same as `harness`, for other processes; without it
 * the process tier is left out.
 */
export function mutantHarness(sound: Harness, mutant: Mutant, module?: string): Harness {
  const { openAt, module: _, ...rest } = sound
  return {
    ...rest,
    ...(module === undefined ? {} : { module }),
    name: `${sound.name}, ${mutant.name}`,
    createMedium: async () => {
      const medium = await sound.createMedium()
      const shared = sharedOf(medium)
      return { ...medium, open: (options = {}) => openMutant(medium.open, mutant, shared, options) }
    },
    ...(openAt === undefined
      ? {}
      : {
          openAt: (location: string, options: PersistenceOptions = {}) => {
            const shared: MutantMedium = {
              location,
              elsewhere: true,
              files: async () => [],
              memory: new Map(),
            }
            return openMutant((passed) => openAt(location, passed), mutant, shared, options)
          },
        }),
  }
}

function sharedOf(medium: Medium): MutantMedium {
  return {
    location: medium.location,
    elsewhere: false,
    files: async () => (await medium.files?.()) ?? [],
    memory: new Map(),
  }
}

async function openMutant(
  open: (options?: PersistenceOptions) => Promise<SessionPersistence>,
  mutant: Mutant,
  medium: MutantMedium,
  given: PersistenceOptions,
): Promise<SessionPersistence> {
  const options = mutant.options?.(given) ?? given
  const inner = await open(options)
  const base = overlay(inner, mutant.persistence?.(inner, medium, options) ?? {})
  const wrapSession = (session: Session, how: 'create' | 'resume' | 'fork'): Session =>
    mutant.session === undefined ? session : overlay(session, mutant.session(session, medium, how))
  return overlay(base, {
    create: async (created) => wrapSession(await base.create(created), 'create'),
    resume: async (id, resumed) => wrapSession(await base.resume(id, resumed), 'resume'),
    fork: async (id, forked) => wrapSession(await base.fork(id, forked), 'fork'),
    inspect: async (id, inspected) => {
      const view = await base.inspect(id, inspected)
      return mutant.view === undefined ? view : overlay(view, mutant.view(view))
    },
  })
}

/** A fact that all handles of a medium share, made when first asked for. */
export function shared<T>(medium: MutantMedium, name: string, initial: () => T): T {
  if (!medium.memory.has(name)) medium.memory.set(name, initial())
  return medium.memory.get(name) as T
}

export type Events = AsyncIterable<AnySessionEvent>

/** A persistence and sessions whose reads are changed; follow is left alone. */
export function changedReads(
  change: (events: Events, id: string, options: ReadOptions, medium: MutantMedium) => Events,
): Pick<Mutant, 'persistence' | 'session'> {
  return {
    persistence: (inner, medium) => ({
      read: (id, options = {}) => change(inner.read(id, options), id, options, medium),
    }),
    session: (inner, medium) => ({
      read: (options = {}) => change(inner.read(options), inner.id, options, medium),
    }),
  }
}

/** A persistence and sessions whose read events are changed one by one; undefined leaves one out. */
export function changedEvents(
  change: (event: AnySessionEvent, id: string, medium: MutantMedium) => AnySessionEvent | undefined,
): Pick<Mutant, 'persistence' | 'session'> {
  return changedReads(async function* (events, id, _options, medium) {
    for await (const event of events) {
      const changed = change(event, id, medium)
      if (changed !== undefined) yield changed
    }
  })
}

type AppendUntyped = (type: string, data: unknown, options?: object) => AnySessionEvent

/** A replacement for `append` that need not know the vocabulary. */
export function changedAppend(
  inner: Session,
  change: (append: AppendUntyped, type: string, data: unknown, options?: object) => AnySessionEvent,
): Session['append'] {
  const append = (inner.append as AppendUntyped).bind(inner)
  const changed: AppendUntyped = (type, data, options) => change(append, type, data, options)
  return changed as Session['append']
}

/** What append would have returned, had it accepted the event. */
export function pretendedEvent(inner: Session, type: string, data: unknown): AnySessionEvent {
  return Object.freeze({ seq: inner.nextSeq, time: 0, type, data })
}

/** Any value rebuilt with `change` applied to every string, number, list and record inside, innermost first. */
export function rebuilt(value: unknown, change: (part: unknown) => unknown): unknown {
  if (Array.isArray(value)) return change(value.map((part) => rebuilt(part, change)))
  if (typeof value !== 'object' || value === null) return change(value)
  const copy: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: rebuilt(part, change),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return change(copy)
}

/** A change of what messages look like when read, whatever the event. */
export function changedMessages(change: (part: unknown) => unknown): Pick<Mutant, 'persistence' | 'session'> {
  return changedEvents((event) => {
    if (typeof event.data !== 'object' || event.data === null || !('message' in event.data)) return event
    return { ...event, data: { ...event.data, message: rebuilt(event.data.message, change) } }
  })
}
