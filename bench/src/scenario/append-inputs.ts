import type { AnySessionEvent, EventType, Session } from 'session-persistence'
import { type LogInput, takeEvents } from '../input/generated-log.ts'

/** Hands out an input in order, some flushes a round, so that every case of a comparison appends the same events. */
export class RoundInputs {
  readonly #events: readonly AnySessionEvent[]
  readonly #eventsPerFlush: number
  readonly #flushes: number

  constructor(input: LogInput, rounds: number, flushes: number, eventsPerFlush: number) {
    this.#events = takeEvents(input, rounds * flushes * eventsPerFlush)
    this.#eventsPerFlush = eventsPerFlush
    this.#flushes = flushes
  }

  /** What is flushed in this round, flush by flush. */
  round(round: number): readonly (readonly AnySessionEvent[])[] {
    const first = round * this.#flushes
    return Array.from({ length: this.#flushes }, (_, flush) => {
      const start = (first + flush) * this.#eventsPerFlush
      return this.#events.slice(start, start + this.#eventsPerFlush)
    })
  }
}

/** Appends one by one, as a harness does. The generator made the data to the types of the vocabulary. */
export function appendEach(session: Session, events: readonly AnySessionEvent[]): void {
  for (const { type, data, surface } of events) {
    session.append(type as EventType, data as never, surface === undefined ? undefined : { surface })
  }
}
