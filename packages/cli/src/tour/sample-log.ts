import type { AnySessionEvent, LogSource } from 'session-persistence'
import type { SampleLog } from './measure-backend.ts'

/** Bounds of what the tour holds in memory. A prefix of a log is a log, so a longer one is measured by its beginning. */
const eventsMax = 200_000
const jsonBytesMax = 256 * 1024 * 1024

/** Reads a log into memory, up to the bounds; `whole` says whether that was all. */
export async function sampleOf({ header, events: pages }: LogSource): Promise<SampleLog & { readonly whole: boolean }> {
  const events: AnySessionEvent[] = []
  let jsonBytes = 0
  for await (const page of pages) {
    for (const event of page) {
      const bytes = Buffer.byteLength(JSON.stringify(event)) + 1
      if (events.length === eventsMax || jsonBytes + bytes > jsonBytesMax)
        return { header, events, jsonBytes, whole: false }
      jsonBytes += bytes
      events.push(event)
    }
  }
  return { header, events, jsonBytes, whole: true }
}
