/** Places of a log whose events are lost: what may still be made in them, and what stands there in the end. */
import type { AnySessionEvent, EventInput } from '../event/event.ts'
import { LOST_EVENT_TYPE } from '../event/lost-event.ts'

/** Places that follow each other. */
export interface PlaceRange {
  readonly from: number
  /** Exclusive. */
  to: number
}

/** Those that keep their stand-ins. */
export interface LostPlaces extends PlaceRange {
  readonly time: number
}

/** The last `count` of the places, in order, and what is left of them. */
export function lastPlaces(
  lost: readonly PlaceRange[],
  count: number,
): { readonly taken: readonly number[]; readonly left: PlaceRange[] } {
  const taken: number[] = []
  const left = lost.map((range) => ({ ...range }))
  while (taken.length < count) {
    const last = left.at(-1)
    if (last === undefined) break
    taken.push(--last.to)
    if (last.to === last.from) left.pop()
  }
  return { taken: taken.reverse(), left }
}

/** What was made, in its places, among what is there; each at the time of the event before it. */
export function inOrder(
  made: readonly EventInput[],
  places: readonly number[],
  events: readonly AnySessionEvent[],
  firstTime: number,
): AnySessionEvent[] {
  const all: AnySessionEvent[] = []
  let next = 0
  const takeUntil = (seq: number): void => {
    for (let event = events[next]; event !== undefined && event.seq < seq; event = events[++next]) all.push(event)
  }
  for (const [index, { type, data }] of made.entries()) {
    const seq = places[index] ?? 0
    takeUntil(seq)
    all.push({ seq, time: all.at(-1)?.time ?? firstTime, type, data })
  }
  takeUntil(Number.POSITIVE_INFINITY)
  return all
}

export function* standIns({ from, to, time }: LostPlaces): Generator<AnySessionEvent, void, undefined> {
  for (let seq = from; seq < to; seq++) yield standIn(seq, time)
}

export function standIn(seq: number, time: number): AnySessionEvent {
  return { seq, time, type: LOST_EVENT_TYPE, data: {}, ignorable: true }
}
