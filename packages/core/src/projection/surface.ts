import type { AnySessionEvent, SeqRange, SessionEvent } from '../event/event.ts'
import { isRecord, isSeq, isSurfaceType } from '../event/json-shape.ts'
import { liveRun } from '../event/live-run.ts'
import type { SurfaceType } from '../event/vocabulary.ts'
import { AppendList } from './append-list.ts'
import type { Projection } from './projection.ts'
import { refuse } from './saved-state.ts'

/** One live message. */
export interface SurfaceEntry {
  readonly seq: number
  readonly type: SurfaceType
  readonly message: unknown
}

/** The live messages in the order in which the model sees them. */
export type SurfaceState = AppendList<SurfaceEntry>

function without(state: SurfaceState, range: SeqRange, entries: readonly SurfaceEntry[]): SurfaceState {
  const run = liveRun(state, range)
  return run === undefined ? state : state.replaced(run.start, run.end, entries)
}

/** Live messages: appended by the three message types, replaced by their `surface` option, taken by `surface/remove`. */
export const surfaceProjection: Projection<SurfaceState> = {
  name: 'surface',
  version: 1,
  initial: () => AppendList.of<SurfaceEntry>(),
  apply(state: SurfaceState, any: AnySessionEvent): SurfaceState {
    const event = any as SessionEvent
    switch (event.type) {
      case 'user/message':
      case 'assistant/message':
      case 'tool/result': {
        const entry = { seq: event.seq, type: event.type, message: event.data.message }
        return event.surface === undefined ? state.push(entry) : without(state, event.surface.replace, [entry])
      }
      case 'surface/remove':
        return without(state, [event.data.start, event.data.end], [])
      default:
        return state
    }
  },
  save: (state: SurfaceState) => state.slice(),
  load: (saved: unknown) => AppendList.of(loadEntries(saved)),
}

/** Checks the entries of a snapshot; throws when they are not of the saved form. */
export function loadEntries(saved: unknown): SurfaceEntry[] {
  if (!Array.isArray(saved)) return refuse('surface entries')
  return saved.map((entry: unknown) => {
    if (!isRecord(entry) || !isSeq(entry.seq) || !isSurfaceType(entry.type) || entry.message === undefined)
      return refuse('a surface entry')
    return { seq: entry.seq, type: entry.type, message: entry.message }
  })
}
