/** What a process has promised of its sessions, as far as it has gone, and whether that was kept. Pure. */
import type { AnySessionEvent } from '@session-persistence/core'
import type { WorkerLine, WorkerStep } from '../worker-process.ts'

export interface SessionPromise {
  /** What was appended, by seq; a hole is an event that the backend's own session added. */
  readonly events: readonly (AnySessionEvent | undefined)[]
  /** Numbers of events after which an append had ended: it is whole or not there. */
  readonly ends: ReadonlySet<number>
  /** So many events were acknowledged. */
  readonly durable: number
  readonly presence: 'absent' | 'unknown' | 'present'
}

/** By session. */
export type Promises = ReadonlyMap<string, SessionPromise>

const NOTHING: SessionPromise = { events: [], ends: new Set(), durable: 0, presence: 'absent' }

/** Every moment of a process that does these steps has promises; those of one moment never change. */
export class PromiseLedger {
  promises: Promises
  readonly #steps: readonly WorkerStep[]
  #rest = ''

  constructor(steps: readonly WorkerStep[], initially: Promises = new Map()) {
    this.#steps = steps
    this.promises = initially
  }

  /** What was written to standard output; the promises from then on. */
  hearText(text: string): Promises {
    const pieces = (this.#rest + text).split('\n')
    this.#rest = pieces.pop() ?? ''
    for (const piece of pieces) this.hear(JSON.parse(piece) as WorkerLine)
    return this.promises
  }

  hear(line: WorkerLine): void {
    if (line.kind === 'accepted') this.#set(line.id, (promise) => withEvents(promise, line.events))
    if (line.kind !== 'begin' && line.kind !== 'done') return
    const step = this.#steps[line.step]
    if (step === undefined) return
    if (step.do === 'delete') {
      this.#set(step.id, (promise) => (line.kind === 'done' ? NOTHING : { ...promise, presence: 'unknown' }))
    } else if (line.kind === 'done') {
      this.#set(step.id, (promise) => withDurable(promise, line.durable))
    }
  }

  #set(id: string, change: (promise: SessionPromise) => SessionPromise): void {
    this.promises = new Map([...this.promises, [id, change(this.promises.get(id) ?? NOTHING)]])
  }
}

function withEvents(promise: SessionPromise, added: readonly AnySessionEvent[]): SessionPromise {
  const events = [...promise.events]
  for (const event of added) events[event.seq] = event
  const presence = promise.presence === 'absent' ? 'unknown' : promise.presence
  return { ...promise, events, ends: new Set([...promise.ends, events.length]), presence }
}

function withDurable(promise: SessionPromise, durable: number): SessionPromise {
  return durable === 0 ? promise : { ...promise, durable: Math.max(durable, promise.durable), presence: 'present' }
}

/** The promise to a process that goes on from what it finds: nothing of it changes, and no less is acknowledged. */
export function foundPromise(promise: SessionPromise, found: readonly AnySessionEvent[]): SessionPromise {
  return { ...promise, events: found, ends: new Set([...promise.ends, found.length]) }
}

/** Undefined where `found` (undefined: no session) keeps the promise, else a sentence. */
export function brokenPromise(
  { events, ends, durable, presence }: SessionPromise = NOTHING,
  found: readonly AnySessionEvent[] | undefined,
): string | undefined {
  if (found === undefined) return presence === 'present' ? 'an acknowledged session is gone' : undefined
  if (presence === 'absent')
    return `a session of ${found.length} events is there, which nobody stored or which was deleted`
  const foreign = found.findIndex((event, index) => !isEvent(event, index, events[index]))
  if (foreign >= 0) return `event ${foreign} is not the one that was appended`
  if (found.length < durable) return `${durable} events were acknowledged, and ${found.length} are there`
  const isWhole = found.length === 0 || found.length >= events.length || ends.has(found.length)
  return isWhole || events[found.length - 1] === undefined
    ? undefined
    : `half an append is there, ${found.length} events`
}

function isEvent(found: AnySessionEvent, index: number, appended: AnySessionEvent | undefined): boolean {
  if (found.seq !== index) return false
  return appended === undefined ? found.type !== 'user/message' : textOf(found) === textOf(appended)
}

function textOf({ seq, time, type, data }: AnySessionEvent): string {
  return JSON.stringify([seq, time, type, data])
}
