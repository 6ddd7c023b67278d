import { LIMITS, SessionError } from '@session-persistence/core'

const lineFeed = 0x0a

/**
 * The lines of a stream, split at 0x0A only: text may hold any other line separator. A last line without its line feed
 * counts. INVALID_ARGUMENT for bytes that are not UTF-8, TOO_LARGE for a line that no event could hold: input that is no
 * text must not fill the memory first.
 */
export async function* inputLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let parts: Uint8Array[] = []
  let bytes = 0
  let lines = 0
  const text = (): string => {
    lines += 1
    try {
      return decoder.decode(Buffer.concat(parts)).replace(/\r$/, '')
    } catch (cause) {
      throw new SessionError('INVALID_ARGUMENT', `line ${lines} of the input is not UTF-8 text`, { cause })
    }
  }
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      parts.push(chunk.subarray(start, end))
      yield text()
      parts = []
      bytes = 0
      start = end + 1
    }
    parts.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > LIMITS.eventBytes) {
      throw new SessionError(
        'TOO_LARGE',
        `line ${lines + 1} of the input is longer than eventBytes, ${LIMITS.eventBytes}`,
      )
    }
  }
  if (bytes > 0) yield text()
}
