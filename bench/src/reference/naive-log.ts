/**
 * What people write first: a line an event, appended without a lock, a check or a sync; read by splitting the whole
 * text and parsing each line. A crash can lose what was acknowledged and leave half a line.
 */
import fs from 'node:fs'
import type { AnySessionEvent } from 'session-persistence'
import { eventPages, type LogInput } from '../input/generated-log.ts'
import { jsonLines } from './bare-append.ts'

export class NaiveLog {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  append(events: readonly AnySessionEvent[]): void {
    for (const event of events) fs.appendFileSync(this.#file, `${JSON.stringify(event)}\n`)
  }
}

/** Writes the log as JSON lines. */
export function writeNaiveFile(file: string, input: LogInput, count: number): void {
  const fd = fs.openSync(file, 'wx', 0o600)
  try {
    for (const page of eventPages(input, count, 1000)) fs.writeSync(fd, jsonLines(page))
  } finally {
    fs.closeSync(fd)
  }
}

/** Returns the number of events. */
export async function readNaiveFile(file: string): Promise<number> {
  const text = await fs.promises.readFile(file, 'utf8')
  let events = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    JSON.parse(line)
    events++
  }
  return events
}
