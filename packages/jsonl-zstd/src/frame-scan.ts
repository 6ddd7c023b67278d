/** Decodes units forwards. Pure over bytes, but for the codec, which works beside the event loop. */
import { isUtf8 } from 'node:buffer'
import { isSessionError, type StoredRecord } from '@session-persistence/core'
import type { Damage, ScanOptions, ScanPosition, ScanResult, Window } from '@session-persistence/file-log'
import { PAGE_CONTENT_BYTES } from './commit-search.ts'
import { type FrameUnit, readUnit } from './frame-unit.ts'
import { LineReader, readLines } from './line-reader.ts'
import type { ZstdCodec } from './zstd-codec.ts'

/**
 * Content decoded in one call: small frames many at a time, since a call costs as much as decoding 20 KiB; and in more
 * than one call a page, so that one part is decoded while the lines of the part before it are read. The first part is
 * small, because nothing can be read before it is there; each next one is twice as large.
 */
const FIRST_PART_BYTES = 16 * 1024
const PART_BYTES_MAX = 256 * 1024

/** See `LogDialect.scan`. */
export async function scanFrames(
  codec: ZstdCodec,
  salt: number,
  window: Window,
  position: ScanPosition,
  options: ScanOptions,
): Promise<ScanResult> {
  const found = findUnits(salt, window, position, options)
  let records: StoredRecord[] = []
  const bad = await decodeUnits(codec, window.bytes, found.wanted, options, records)
  if (bad === undefined) {
    return { records, end: window.offset + found.end, position: found.position, ...damageOf(window, found.end, found) }
  }
  // Records of the damaged unit may be among them, also as a part of a longer run.
  records = []
  const before = found.wanted.slice(0, found.wanted.indexOf(bad.unit))
  await decodeUnits(codec, window.bytes, before, options, records)
  const { firstSeq } = bad.unit.commit
  return {
    records,
    end: window.offset + bad.unit.start,
    position: { nextSeq: firstSeq, batchSeq: firstSeq },
    ...damageOf(window, bad.unit.start, { damage: damaged(firstSeq, bad.why) }),
  }
}

type Wrong = Omit<Damage, 'offset'>

function damageOf({ offset }: Window, at: number, { damage }: { readonly damage?: Wrong }): { damage?: Damage } {
  return damage === undefined ? {} : { damage: { ...damage, offset: offset + at } }
}

interface FoundUnits {
  /** Units that hold records in range, next to each other. */
  readonly wanted: readonly FrameUnit[]
  /** Index behind the last unit found. */
  readonly end: number
  readonly position: ScanPosition
  readonly damage?: Wrong
}

/** Verified units from the start of the window, as many as make one page. */
function findUnits(
  salt: number,
  { bytes, offset }: Window,
  { nextSeq: first, batchSeq }: ScanPosition,
  { from, to }: ScanOptions,
): FoundUnits {
  const wanted: FrameUnit[] = []
  let nextSeq = first
  let at = 0
  let content = 0
  let damage: Wrong | undefined
  while (at < bytes.length && (nextSeq === undefined || nextSeq <= to)) {
    const unit = readUnit(bytes, at, offset, salt)
    if (unit === 'incomplete') break
    if ('damage' in unit) {
      damage = unit.found === undefined ? damaged(nextSeq, unit.damage) : wrongSeq(nextSeq, unit.found)
      break
    }
    const { firstSeq, events, contentBytes } = unit.commit
    if (nextSeq !== undefined && firstSeq !== nextSeq) {
      damage = wrongSeq(nextSeq, firstSeq)
      break
    }
    const inRange = firstSeq + events > from && firstSeq <= to
    if (inRange && wanted.length > 0 && content + contentBytes > PAGE_CONTENT_BYTES) break
    if (inRange) {
      wanted.push(unit)
      content += contentBytes
    }
    nextSeq = firstSeq + events
    at = unit.end
  }
  const position = { nextSeq, batchSeq: nextSeq ?? batchSeq }
  return damage === undefined ? { wanted, end: at, position } : { wanted, end: at, position, damage }
}

interface BadUnit {
  readonly unit: FrameUnit
  readonly why: string
}

async function decodeUnits(
  codec: ZstdCodec,
  bytes: Buffer,
  units: readonly FrameUnit[],
  options: ScanOptions,
  into: StoredRecord[],
): Promise<BadUnit | undefined> {
  const parts = partsOf(units).map((part) => {
    const contents = decompress(codec, bytes, part)
    // Heard of when its turn comes.
    contents.catch(() => {})
    return { units: part, contents }
  })
  try {
    for (const part of parts) {
      const bad = await readPart(codec, bytes, part.units, await part.contents, options, into)
      if (bad !== undefined) return bad
    }
    return undefined
  } finally {
    // The bytes may change as soon as this returns.
    await Promise.allSettled(parts.map(({ contents }) => contents))
  }
}

function partsOf(units: readonly FrameUnit[]): readonly (readonly FrameUnit[])[] {
  const parts: FrameUnit[][] = []
  let content = Number.POSITIVE_INFINITY
  let wanted = FIRST_PART_BYTES / 2
  for (const unit of units) {
    if (content >= wanted) {
      parts.push([])
      content = 0
      wanted = Math.min(2 * wanted, PART_BYTES_MAX)
    }
    parts.at(-1)?.push(unit)
    content += unit.commit.contentBytes
  }
  return parts
}

async function readPart(
  codec: ZstdCodec,
  bytes: Buffer,
  units: readonly FrameUnit[],
  contents: Buffer | undefined,
  options: ScanOptions,
  into: StoredRecord[],
): Promise<BadUnit | undefined> {
  // Where they could not be decoded together, one by one, to find the one that cannot.
  if (contents === undefined || !isUtf8(contents)) return await readEach(codec, bytes, units, options, into)
  const reader = new LineReader(contents, options, into)
  let at = 0
  for (const unit of units) {
    const end = at + unit.commit.contentBytes
    const why = reader.read(at, end, unit.commit)
    if (why !== undefined) return { unit, why }
    at = end
  }
  return undefined
}

async function readEach(
  codec: ZstdCodec,
  bytes: Buffer,
  units: readonly FrameUnit[],
  options: ScanOptions,
  into: StoredRecord[],
): Promise<BadUnit | undefined> {
  for (const unit of units) {
    const content = await decompress(codec, bytes, [unit])
    if (content === undefined) return { unit, why: 'its content cannot be decoded' }
    const why = readLines(content, unit.commit, options, into)
    if (why !== undefined) return { unit, why }
  }
  return undefined
}

/** The content of units that lie next to each other; undefined when it is not what they declare. */
export async function decompress(
  codec: ZstdCodec,
  bytes: Buffer,
  units: readonly FrameUnit[],
): Promise<Buffer | undefined> {
  const first = units[0]
  const last = units.at(-1)
  if (first === undefined || last === undefined) return Buffer.alloc(0)
  const length = units.reduce((sum, { commit }) => sum + commit.contentBytes, 0)
  let content: Buffer
  try {
    // The records between are skippable frames. The last one is left out: some decoders want a frame behind it.
    content = await codec.decompress(bytes.subarray(first.start, last.frameEnd), length)
  } catch (error) {
    // The frames' bytes have their checksum: what a codec refuses in them is their content.
    if (isSessionError(error) && error.code !== 'CORRUPT') throw error
    return undefined
  }
  return content.length === length ? content : undefined
}

function wrongSeq(expected: number | undefined, found: number): Wrong {
  if (expected === undefined)
    return { message: `the batch at seq ${found} belongs at another place of the file`, found }
  return { message: `expected the batch at seq ${expected}, found seq ${found}`, seq: expected, found }
}

function damaged(seq: number | undefined, why: string): Wrong {
  const what = seq === undefined ? 'a batch' : `the batch at seq ${seq}`
  return { message: `${what} is damaged: ${why}`, ...(seq === undefined ? {} : { seq }) }
}
