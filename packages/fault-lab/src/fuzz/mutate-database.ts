/** Changes to the bytes of a SQLite database that know its structure: header, pages, cells, records, schema. */
import type { Random } from '@session-persistence/conformance/crash-states'
import { mutate } from './mutate.ts'

/** Changes in place, or gives other bytes. */
type DatabaseMutation = (bytes: Buffer, random: Random) => Buffer

const HEADER_BYTES = 100
/** Offsets of the fields of the database header, with their sizes (SQLite file format, section 1.3). */
const HEADER_FIELDS: readonly (readonly [offset: number, size: 1 | 2 | 4])[] = [
  ...([18, 19, 20, 21, 22, 23] as const).map((offset) => [offset, 1] as const),
  [16, 2],
  ...([24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96] as const).map((offset) => [offset, 4] as const),
]

const PAGE_TYPES = [0, 2, 5, 10, 13, 255]

function pageSize(bytes: Buffer): number {
  const size = bytes.length >= HEADER_BYTES ? bytes.readUInt16BE(16) : 0
  return size >= 512 && (size & (size - 1)) === 0 ? size : 512
}

function set(bytes: Buffer, offset: number, size: 1 | 2 | 4, value: number): void {
  if (offset + size <= bytes.length) bytes.writeUIntBE(value % 2 ** (8 * size), offset, size)
}

/** A value that is wrong in an interesting way. */
function oddNumber(bytes: Buffer, size: 1 | 2 | 4, random: Random): number {
  return random.pick([0, 1, 2, 3, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), bytes.length, random.next()])
}

/** A b-tree page and where its header stands: behind the database header on the first page. */
function page(
  bytes: Buffer,
  random: Random,
): { readonly start: number; readonly header: number; readonly size: number } {
  const size = pageSize(bytes)
  const start = size * random.below(Math.max(1, Math.floor(bytes.length / size)))
  return { start, header: start === 0 ? HEADER_BYTES : start, size }
}

/** Offset of a cell pointer of a page. */
function cellPointer(bytes: Buffer, random: Random): { readonly pointer: number; readonly start: number } | undefined {
  const { start, header, size } = page(bytes, random)
  if (header + 12 > bytes.length) return undefined
  const cells = Math.min(bytes.readUInt16BE(header + 3), size / 2)
  const isInner = bytes[header] === 2 || bytes[header] === 5
  return { pointer: header + (isInner ? 12 : 8) + 2 * random.below(Math.max(1, cells)), start }
}

const MUTATIONS: readonly DatabaseMutation[] = [
  // A field of the database header.
  (bytes, random) => {
    const [offset, size] = random.pick(HEADER_FIELDS)
    set(bytes, offset, size, oddNumber(bytes, size, random))
    return bytes
  },
  // The header of a page: its type, free block, number of cells, start of content, right child.
  (bytes, random) => {
    const { header } = page(bytes, random)
    if (random.below(3) === 0) set(bytes, header, 1, random.pick(PAGE_TYPES))
    else if (random.below(4) === 0) set(bytes, header + 8, 4, oddNumber(bytes, 4, random))
    else set(bytes, header + random.pick([1, 3, 5]), 2, oddNumber(bytes, 2, random))
    return bytes
  },
  // Where a cell is.
  (bytes, random) => {
    const found = cellPointer(bytes, random)
    if (found !== undefined) set(bytes, found.pointer, 2, random.below(2) === 0 ? random.below(512) : random.next())
    return bytes
  },
  // The start of a cell: payload length, key, child, types of the columns.
  (bytes, random) => {
    const found = cellPointer(bytes, random)
    if (found === undefined || found.pointer + 2 > bytes.length) return bytes
    const cell = found.start + bytes.readUInt16BE(found.pointer)
    set(bytes, cell + random.below(14), 1, random.pick([0, 1, 0x7f, 0x80, 0x81, 0xff, random.next() & 0xff]))
    return bytes
  },
  // A page in the place of another, emptied, repeated, or full of anything.
  (bytes, random) => {
    const { start, size } = page(bytes, random)
    const other = page(bytes, random).start
    if (random.below(3) === 0) bytes.subarray(start, start + size).fill(random.pick([0, 0xff]))
    else if (random.below(4) === 0) random.bytes(size).copy(bytes, start)
    else Buffer.from(bytes.subarray(other, other + size)).copy(bytes, start)
    return bytes
  },
  // Fewer or more pages than the header says.
  (bytes, random) => {
    const { start, size } = page(bytes, random)
    return random.below(2) === 0
      ? bytes.subarray(0, start)
      : Buffer.concat([bytes, bytes.subarray(start, start + size)])
  },
  // The schema says something else, of the same length.
  (bytes, random) => {
    const [from, to] = random.pick([
      ['CREATE TABLE', 'CREATE  VIEW'],
      ['INTEGER', 'BLOB   '],
      ['UNIQUE', '      '],
      ['STRICT', '      '],
      ['session', 'sessien'],
      ['record', 'header'],
      ['BETWEEN 1', 'BETWEEN 9'],
    ] as const)
    const at = bytes.indexOf(from, random.below(bytes.length))
    if (at >= 0) bytes.write(to, at)
    return bytes
  },
  // And what a log may meet: bits, ranges, cuts, numbers.
  mutate,
  mutate,
]

/** One to three changes to a copy. */
export function mutateDatabase(original: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(original)
  for (let count = 1 + random.below(3); count > 0 && bytes.length > 0; count--) {
    bytes = Buffer.from(random.pick(MUTATIONS)(bytes, random))
  }
  return bytes
}
