/** The two generated inputs of every comparison; the same seed gives the same bytes everywhere. */
import type { AnySessionEvent } from 'session-persistence'
import { type TurnShape, turns } from './turn-maker.ts'

/** A log of any length: the first `count` events are the same for every `count`. */
export interface LogInput {
  readonly name: string
  readonly description: string
  events(): Iterable<AnySessionEvent>
}

/** About 120,000 tokens. */
const WINDOW = 480_000

const DELTA: TurnShape = {
  seed: 20,
  deltas: [75, 235],
  prompt: [100, 900],
  answer: [0, 0],
  result: [600, 5600],
  window: WINDOW,
}

const MESSAGES: TurnShape = {
  seed: 21,
  deltas: [0, 0],
  prompt: [200, 3000],
  answer: [600, 4500],
  result: [1000, 6800],
  window: WINDOW,
}

export const deltaLog: LogInput = {
  name: 'delta',
  description: 'a streaming harness: 96 % small deltas, about 190 bytes a stored line',
  events: () => turns(DELTA),
}

export const messagesLog: LogInput = {
  name: 'messages',
  description: 'a harness that stores no chunks: about 1.1 kB an event',
  events: () => turns(MESSAGES),
}

/** The first `count` events. */
export function takeEvents(input: LogInput, count: number): AnySessionEvent[] {
  const taken: AnySessionEvent[] = []
  for (const event of input.events()) {
    if (taken.length === count) break
    taken.push(event)
  }
  return taken
}

/** The first `count` events in pages of `size`, without holding more than one. */
export function* eventPages(input: LogInput, count: number, size: number): Generator<readonly AnySessionEvent[]> {
  let page: AnySessionEvent[] = []
  let left = count
  for (const event of input.events()) {
    if (left === 0) break
    page.push(event)
    left--
    if (page.length < size && left > 0) continue
    yield page
    page = []
  }
}
