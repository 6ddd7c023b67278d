import type { AnySessionEvent, EventType, Session, SessionPersistence } from 'session-persistence'
import { type LogInput, takeEvents } from '../input/generated-log.ts'
import { elapsed } from '../measure/elapsed.ts'
import type { Case } from '../measure/interleave.ts'

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

/** Milliseconds a flush of a session that is appended to round after round. */
export async function sessionCase(
  name: string,
  persistence: SessionPersistence,
  inputs: RoundInputs,
  flushes: number,
): Promise<Case> {
  const session = await persistence.create()
  return {
    name,
    sample: async (round) => {
      const batches = inputs.round(round)
      const ms = await elapsed(async () => {
        for (const batch of batches) {
          appendEach(session, batch)
          await session.flush()
        }
      })
      return ms / flushes
    },
  }
}

/** Appends one by one, as a harness does. The generator made the data to the types of the vocabulary. */
export function appendEach(session: Session, events: readonly AnySessionEvent[]): void {
  for (const { type, data, surface } of events) {
    session.append(type as EventType, data as never, surface === undefined ? undefined : { surface })
  }
}
