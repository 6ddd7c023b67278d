import type { Session, SessionPersistence } from '@session-persistence/core'
import { shortValue } from './short-value.ts'

/** What a failure shows of what was done before it. Older operations are counted only. */
const KEPT = 25

interface Operation {
  /** Made when it is shown where that takes long. */
  text: string | (() => string)
  outcome: string
  /** Appends in a row on one session are one operation. */
  appends?: { readonly session: string; readonly first: string; last: string; count: number }
}

/** What a case did to the persistence, in order: the last operations, each on one line. */
export class OperationHistory {
  readonly #kept: Operation[] = []
  readonly #errors = new WeakSet<object>()
  #count = 0
  #handles = 0
  #processes = 0

  /** Notes something that is no call: a file damaged, a process killed. */
  note(text: string | (() => string)): void {
    this.#add({ text, outcome: '' })
  }

  /** Operations begun so far. */
  get count(): number {
    return this.#count
  }

  /** The lines of a report, with how many operations came before them. */
  lines(): readonly string[] {
    const before = this.#count - this.#kept.length
    const lines = this.#kept.map(({ text, outcome }) => {
      const said = typeof text === 'string' ? text : text()
      return outcome === '' ? said : `${said} -> ${outcome}`
    })
    return before === 0 ? lines : [`(${before} operations before these)`, ...lines]
  }

  nextHandle(): string {
    this.#handles += 1
    return `p${this.#handles}`
  }

  nextProcess(): string {
    this.#processes += 1
    return `process ${this.#processes}`
  }

  /** Whether a call of the backend threw or rejected with this very value. */
  isOfBackend(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#errors.has(error)
  }

  /** Runs a call of the backend, not noted but for what it throws. */
  async heard<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action()
    } catch (error) {
      this.#blame(error)
      throw error
    }
  }

  #blame(error: unknown): void {
    if (typeof error === 'object' && error !== null) this.#errors.add(error)
  }

  /** Runs a call, noted with its outcome; `named` shows what it resolved with. */
  call<T>(text: string, action: () => T, named: (value: unknown) => string = shortValue): T {
    const operation: Operation = { text, outcome: 'pending' }
    this.#add(operation)
    const failed = (error: unknown): never => {
      this.#blame(error)
      operation.outcome = `rejected with ${shortValue(error)}`
      throw error
    }
    try {
      const result = action()
      if (!(result instanceof Promise)) {
        operation.outcome = named(result)
        return result
      }
      // The derived promise is what the caller gets, so that a rejection that nobody handles is still unhandled.
      return result.then((value: unknown) => {
        operation.outcome = named(value)
        return value
      }, failed) as T
    } catch (error) {
      this.#blame(error)
      operation.outcome = `threw ${shortValue(error)}`
      throw error
    }
  }

  append<T>(session: string, type: string, action: () => T): T {
    const last = this.#kept.at(-1)
    const same = last?.appends?.session === session ? last : undefined
    try {
      const result = action()
      if (same?.appends === undefined) {
        const text = `${session}.append(${shortValue(type)})`
        this.#add({ text, outcome: '', appends: { session, first: type, last: type, count: 1 } })
      } else {
        same.appends.count += 1
        same.appends.last = type
        same.text = `${session}: ${same.appends.count} appends, ${same.appends.first} to ${type}`
      }
      return result
    } catch (error) {
      this.#blame(error)
      this.#add({ text: `${session}.append(${shortValue(type)})`, outcome: `threw ${shortValue(error)}` })
      throw error
    }
  }

  /** An iteration, noted with how far it went. */
  async *iterate<T>(text: string, items: AsyncIterable<T>): AsyncGenerator<T> {
    const operation: Operation = { text, outcome: 'pending' }
    this.#add(operation)
    let count = 0
    try {
      for await (const item of items) {
        count += 1
        operation.outcome = `${count} events so far`
        yield item
      }
      operation.outcome = `${count} events`
    } catch (error) {
      this.#blame(error)
      operation.outcome = `${count} events, then ${shortValue(error)}`
      throw error
    }
  }

  #add(operation: Operation): void {
    this.#count += 1
    this.#kept.push(operation)
    if (this.#kept.length > KEPT) this.#kept.shift()
  }
}

const SESSION_CALLS = new Set(['flush', 'drained', 'checkpoint', 'beginCall', 'closeTurn', 'close', 'abandon'])
const OPENING_CALLS = new Set(['create', 'resume', 'fork'])
const CALLS = new Set(['inspect', 'list', 'annotate', 'verify', 'repair', 'delete', 'importLog', 'exportLog', 'close'])

/** The persistence, with every call noted under the name of its handle. */
export function recorded(persistence: SessionPersistence, history: OperationHistory): SessionPersistence {
  const handle = history.nextHandle()
  history.note(`${handle} = open()`)
  return watched(persistence, (name, call) => {
    if (OPENING_CALLS.has(name)) {
      return (...args) =>
        history.call(
          `${handle}.${name}(${shown(args)})`,
          () => Promise.resolve(call(...args)).then((session) => recordedSession(session as Session, handle, history)),
          sessionName,
        )
    }
    if (name === 'read' || name === 'follow') {
      return (...args) => history.iterate(`${handle}.${name}(${shown(args)})`, call(...args) as AsyncIterable<unknown>)
    }
    if (!CALLS.has(name)) return undefined
    return (...args) => history.call(`${handle}.${name}(${shown(args)})`, () => call(...args), outcomeOf)
  })
}

function recordedSession(session: Session, handle: string, history: OperationHistory): Session {
  const label = `${handle}/${shortValue(session.id)}`
  return watched(session, (name, call) => {
    if (name === 'append') return (...args) => history.append(label, String(args[0]), () => call(...args))
    if (name === 'read')
      return (...args) => history.iterate(`${label}.read(${shown(args)})`, call(...args) as AsyncIterable<unknown>)
    if (name === 'appendAll') {
      return (...args) => {
        const count = Array.isArray(args[0]) ? args[0].length : 0
        return history.call(
          `${label}.appendAll(${count} events)`,
          () => call(...args),
          () => 'accepted',
        )
      }
    }
    if (!SESSION_CALLS.has(name)) return undefined
    return (...args) => history.call(`${label}.${name}(${shown(args)})`, () => call(...args), outcomeOf)
  })
}

type Call = (...args: readonly unknown[]) => unknown

/** `target` with some methods replaced. Private fields need the target itself as `this`. */
function watched<T extends object>(target: T, replaced: (name: string, call: Call) => Call | undefined): T {
  return new Proxy(target, {
    get(inner, key) {
      const value: unknown = Reflect.get(inner, key, inner)
      if (typeof value !== 'function') return value
      const call = value.bind(inner) as Call
      return (typeof key === 'string' ? replaced(key, call) : undefined) ?? call
    },
  })
}

function shown(args: readonly unknown[]): string {
  const given = args.slice(0, args.findLastIndex((one) => one !== undefined) + 1)
  return given.map((one) => shortValue(one)).join(', ')
}

function sessionName(session: unknown): string {
  return typeof session === 'object' && session !== null ? 'a session' : shortValue(session)
}

/** Views and pages are large: what matters of them is their size. */
function outcomeOf(value: unknown): string {
  if (value === undefined) return 'done'
  if (typeof value !== 'object' || value === null) return shortValue(value)
  if ('sessions' in value && Array.isArray(value.sessions)) return `${value.sessions.length} sessions`
  if ('nextSeq' in value) return `a view of ${shortValue(value.nextSeq)} events`
  if (Array.isArray(value)) return `${value.length} events`
  return shortValue(value)
}
