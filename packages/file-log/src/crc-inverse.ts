/**
 * CRC-32 backwards: every step of the sum can be undone, so that what it started from can be told, and which byte is wrong where
 * one is. For `salvage`.
 */

const POLYNOMIAL = 0xedb88320
const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
  return crc
})
/** The index with a given top byte in the table; each top byte occurs once. */
const INDEX: Uint8Array = new Uint8Array(256)
TABLE.forEach((entry, index) => {
  INDEX[entry >>> 24] = index
})

/** The seed with which these bytes have this CRC. */
export function seedOf(bytes: Uint8Array, crc: number): number {
  let state = ~crc >>> 0
  for (let at = bytes.length - 1; at >= 0; at--) {
    const index = INDEX[state >>> 24] ?? 0
    state = (((state ^ (TABLE[index] ?? 0)) << 8) | (index ^ (bytes[at] ?? 0))) >>> 0
  }
  return ~state >>> 0
}

/**
 * The bytes of which one may be wrong, if nothing else is, where `found` is the CRC of these bytes and `stored` the one that they should
 * have: hardly ever more than one, and for bytes damaged in several places hardly ever any. `xor` makes the byte right again.
 */
export function* wrongBytes(
  { length }: Uint8Array,
  found: number,
  stored: number,
): Generator<{ readonly at: number; readonly xor: number }, void, undefined> {
  let difference = (found ^ stored) >>> 0
  if (difference === 0) return
  for (let at = length - 1; at >= 0; at--) {
    const index = INDEX[difference >>> 24] ?? 0
    const entry = TABLE[index] ?? 0
    if (entry === difference) yield { at, xor: index }
    difference = (((difference ^ entry) << 8) | index) >>> 0
  }
}
