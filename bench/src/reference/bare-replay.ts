/**
 * Reference P: `readFile` as UTF-8 and one `JSON.parse` of the whole unpacked log. The file holds one array, so that
 * nothing has to be joined first; it has no checksums and nothing is checked. Bounded by the longest string there is.
 */
import fs from 'node:fs'
import { eventPages, type LogInput } from '../input/generated-log.ts'

/** Writes the log as one JSON array, and returns the bytes of its events as JSON lines. */
export function writeParseFile(file: string, input: LogInput, count: number): number {
  const fd = fs.openSync(file, 'wx', 0o600)
  let bytes = 0
  try {
    let separator = '['
    for (const page of eventPages(input, count, 1000)) {
      const text = page.map((event) => JSON.stringify(event)).join(',')
      bytes += Buffer.byteLength(text) + 1
      fs.writeSync(fd, separator + text)
      separator = ','
    }
    fs.writeSync(fd, ']')
  } finally {
    fs.closeSync(fd)
  }
  return bytes
}

/** Returns the number of events, so that the work cannot be optimised away. */
export async function parseFile(file: string): Promise<number> {
  const events: unknown = JSON.parse(await fs.promises.readFile(file, 'utf8'))
  return Array.isArray(events) ? events.length : 0
}
