/** A stored log as pieces of bytes that can be damaged; pure. */

/**
 * The pieces in which one batch is stored: one piece of a file, or a record or more of another medium. Those of the
 * first batch begin with the header.
 */
export type LogPart = readonly Uint8Array[]

/** All bytes, one after the other. */
export function bytesOf(parts: readonly LogPart[]): Buffer {
  return Buffer.concat(parts.flat())
}

/** Offsets in {@link bytesOf} at which the parts end. */
export function endsOf(parts: readonly LogPart[]): readonly number[] {
  let end = 0
  return parts.map((part) => {
    end += part.reduce((sum, { length }) => sum + length, 0)
    return end
  })
}

/** The same pieces with bytes from `from` to `to`, counted over all of them, changed in place by `change`. */
export function changedParts(
  parts: readonly LogPart[],
  [from, to]: readonly [from: number, to: number],
  change: (bytes: Buffer) => void,
): readonly LogPart[] {
  const bytes = bytesOf(parts)
  change(bytes.subarray(from, to))
  let offset = 0
  return parts.map((part) =>
    part.map(({ length }) => {
      offset += length
      return bytes.subarray(offset - length, offset)
    }),
  )
}

/** With one bit flipped. */
export function flippedParts(parts: readonly LogPart[], offset: number, bit: number = 0): readonly LogPart[] {
  return changedParts(parts, [offset, offset + 1], (bytes) => {
    bytes[0] = (bytes[0] ?? 0) ^ (1 << bit)
  })
}

/** With zeros from `from` to `to`. */
export function zeroedParts(parts: readonly LogPart[], from: number, to: number): readonly LogPart[] {
  return changedParts(parts, [from, to], (bytes) => {
    bytes.fill(0)
  })
}

export function flippedAt(bytes: Uint8Array, offset: number, bit: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[offset] = (bytes[offset] ?? 0) ^ (1 << bit)
  return flipped
}
