import type { AnySessionEvent } from '../event/event.ts'
import { isEventOf } from '../event/event.ts'
import { isRecord, isSeq } from '../event/json-shape.ts'
import type { Projection } from './projection.ts'
import { refuse } from './saved-state.ts'

/** The newest request environment, as its event gave it. */
export interface RequestHeader {
  /** Seq of its `request/header`. */
  readonly seq: number
  readonly model: string
  readonly config?: unknown
  readonly system?: unknown
  readonly tools?: unknown
}

export type RequestHeaderState = RequestHeader | undefined

/** The latest `request/header`; undefined before the first. */
export const requestHeaderProjection: Projection<RequestHeaderState> = {
  name: 'requestHeader',
  version: 1,
  initial: () => undefined,
  apply(state: RequestHeaderState, event: AnySessionEvent): RequestHeaderState {
    return isEventOf(event, 'request/header') ? pick(event.seq, event.data) : state
  },
  save: (state: RequestHeaderState) => state ?? null,
  load(saved: unknown): RequestHeaderState {
    if (saved === null) return undefined
    if (!isRecord(saved) || !isSeq(saved.seq) || typeof saved.model !== 'string') return refuse('a request header')
    return pick(saved.seq, { ...saved, model: saved.model })
  },
}

function pick(seq: number, data: Omit<RequestHeader, 'seq'>): RequestHeader {
  const { model, config, system, tools } = data
  return {
    seq,
    model,
    ...(config !== undefined && { config }),
    ...(system !== undefined && { system }),
    ...(tools !== undefined && { tools }),
  }
}
