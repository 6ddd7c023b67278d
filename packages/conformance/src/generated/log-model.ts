import type { EventInput } from '@session-persistence/core'
import { turnEvents } from '../workload.ts'

/** What must be stored of one event, its time and seq left out. */
export type ExpectedEvent = Pick<EventInput, 'type' | 'data'>

/** One session as an array: what was accepted, and how much of it is known to be durable. */
export class LogModel {
  readonly accepted: ExpectedEvent[] = []
  durable = 0
  turns = 0
  #openTurn = false
  /** A resumed writer that has appended nothing yet. */
  #resumed = false
  /** Lengths at which no turn was open. */
  #stable = 0

  /** The events of the next append of this kind, in the order of the grammar. */
  next(what: 'turn' | 'group' | 'open-turn' | 'message', text: string): readonly EventInput[] {
    if (what === 'message') {
      return this.#openTurn
        ? [{ type: 'user/message', data: { turn: this.turns, message: text } }]
        : [{ type: 'user/message', data: { message: text } }]
    }
    const before: EventInput[] = this.#openTurn
      ? [{ type: 'turn/end', data: { turn: this.turns, reason: { kind: 'completed' } } }]
      : []
    const events = turnEvents(this.turns + 1)
    return [...before, ...(what === 'open-turn' ? events.slice(0, 2) : events)]
  }

  accept(events: readonly EventInput[]): void {
    if (events.length > 0 && this.#resumed) this.#add({ type: 'session/resumed', data: {} })
    if (events.length > 0) this.#resumed = false
    for (const event of events) this.#add(event)
  }

  /** Something that no writer of the harness appended: a title, the mark of a fork. Durable at once. */
  store(event: ExpectedEvent): void {
    this.#add(event)
    this.durable = this.accepted.length
  }

  /** A new writer: an open turn is closed as interrupted. */
  resume(): void {
    if (this.#openTurn) {
      this.store({ type: 'turn/end', data: { turn: this.turns, reason: { kind: 'interrupted' } } })
    }
    this.#resumed = true
  }

  flushed(): void {
    this.durable = this.accepted.length
  }

  /** Only this much is stored: the rest was dropped with its writer. */
  cutTo(length: number): LogModel {
    const kept = new LogModel()
    for (const event of this.accepted.slice(0, length)) kept.store(event)
    return kept
  }

  released(): void {
    this.#resumed = false
  }

  /** The newest stable prefix as a log of its own. */
  fork(parent: string): LogModel {
    const child = this.cutTo(this.#stable)
    child.store({ type: 'session/forked', data: { parent, at: this.#stable - 1 } })
    return child
  }

  #add(event: ExpectedEvent): void {
    this.accepted.push({ type: event.type, data: event.data })
    if (event.type === 'turn/start') {
      this.turns += 1
      this.#openTurn = true
    }
    if (event.type === 'turn/end') this.#openTurn = false
    if (!this.#openTurn) this.#stable = this.accepted.length
  }
}
