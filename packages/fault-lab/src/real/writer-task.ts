/** What a writer process does, and the events that it stores: the same wherever they are computed. */
import { Random } from '@session-persistence/conformance/crash-states'
import type { AnySessionEvent } from '@session-persistence/core'
import { sampleBatches } from '../scenario/sample-events.ts'
import type { RealBackend } from './real-backend.ts'

export interface WriterTask {
  readonly backend: RealBackend
  readonly directory: string
  readonly id: string
  readonly seed: number
  readonly batches: number
  /** Text of an event, about. */
  readonly bytes: number
  /** Closes and resumes after every so many batches. */
  readonly reopenEvery?: number
  /** Stores, and deletes in the end, another session beside this one. */
  readonly neighbour?: boolean
  /** After an error the batch is tried again so often, default 0. */
  readonly retries?: number
  /** Waits for a line on its input before it tries again. */
  readonly waits?: boolean
  /** Says that it is ready, and waits for a line on its input before it opens anything. */
  readonly gated?: boolean
  /** Holds the lock when it is done, until it is killed. */
  readonly holds?: boolean
  /** Name of one of `WEAKNESSES`, for controls; file backends only. */
  readonly weakness?: string
}

export function taskBatches({
  seed,
  batches,
  bytes,
}: Pick<WriterTask, 'seed' | 'batches' | 'bytes'>): AnySessionEvent[][] {
  return sampleBatches(new Random(seed), batches, 4, bytes)
}

/** What a writer says, a line each: it is ready; a batch is on its way, is acknowledged, was refused; all is done. */
export type WriterWord = 'ready' | 'submit' | 'ack' | 'fail' | 'done' | 'refused'

export interface WriterLine {
  readonly word: WriterWord
  /** Events in the log, for `submit` and `ack`. */
  readonly events: number
  /** Error code, for `fail` and `refused`. */
  readonly code: string
}

export function parseLines(text: string): readonly WriterLine[] {
  // A line that was cut was not said.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  return complete.split('\n').flatMap((line) => {
    const [word, value = ''] = line.split(' ')
    if (word === undefined || word === '') return []
    return [{ word: word as WriterWord, events: Number(value) || 0, code: value }]
  })
}
