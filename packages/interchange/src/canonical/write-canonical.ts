import { eventJson, type LogSource, type SessionPersistence } from '@session-persistence/core'
import { CanonicalTally, endLine, headerLine } from './canonical-format.ts'

/** Chunks are about this many characters long. */
const CHUNK_LENGTH = 64 * 1024

/** A log as canonical JSONL, in chunks of whole lines. Memory is bounded by a page of events. */
export async function* writeCanonical(source: LogSource): AsyncGenerator<string, void, undefined> {
  const tally = new CanonicalTally()
  let chunk = ''
  const add = (text: string): void => {
    const line = `${text}\n`
    tally.line(line)
    chunk += line
  }
  add(headerLine(source.header))
  for await (const page of source.events) {
    for (const event of page) {
      add(eventJson(event))
      tally.event(event)
      if (chunk.length < CHUNK_LENGTH) continue
      yield chunk
      chunk = ''
    }
  }
  add(endLine({ ...tally.end(), ...(source.knownHead && { known: source.knownHead }) }))
  yield chunk
}

/** A stored session as canonical JSONL: what {@link readLogs} reads back to an equal log. NOT_FOUND and CORRUPT as `exportLog`. */
export async function* exportSession(
  persistence: SessionPersistence,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<string, void, undefined> {
  yield* writeCanonical(await persistence.exportLog(id, options))
}
