/**
 * Decodes units forwards. Pure over bytes, but for the codec, which works beside the event loop: also on the next page of
 * a window, while the records of one are read and used.
 */
import { isUtf8 } from 'node:buffer'
import { isSessionError, type StoredRecord } from '@session-persistence/core'
import {
  type Damage,
  type ScanOptions,
  type ScanPosition,
  type ScanResult,
  WINDOW_KEPT_BYTES,
  type Window,
} from '@session-persistence/file-log'
import type { FrameUnit } from './frame-unit.ts'
import { LineReader, readLines } from './line-reader.ts'
import { damaged, type FoundUnits, findUnits, type Wrong } from './page-units.ts'
import type { ZstdCodec } from './zstd-codec.ts'

/**
 * Content decoded in one call: small frames many at a time, since a call costs as much as decoding 20 KiB; and in more
 * than one call a page, so that one part is decoded while the lines of the part before it are read. The first part is
 * small, because nothing can be read before it is there; each next one is twice as large. A page that is begun ahead needs
 * no small one.
 */
const FIRST_PART_BYTES = 16 * 1024
const PART_BYTES_MAX = 256 * 1024

/** Scans the windows of one log, one after the other. */
export class FrameScanner {
  readonly #codec: ZstdCodec
  readonly #salt: number
  #ahead: Page | undefined

  constructor(codec: ZstdCodec, salt: number) {
    this.#codec = codec
    this.#salt = salt
  }

  /** See `LogDialect.scan`. */
  async scan(window: Window, position: ScanPosition, options: ScanOptions): Promise<ScanResult> {
    const ahead = this.#ahead
    // Taken once: the bytes that it was made of stay until the next scan only.
    this.#ahead = undefined
    const page =
      ahead !== undefined && isPageOf(ahead, window, position, options)
        ? ahead
        : this.#begin(window, position, options, FIRST_PART_BYTES)
    const { found } = page
    const rest = window.bytes.length - found.end
    if (found.full && rest > WINDOW_KEPT_BYTES) {
      const next = { bytes: window.bytes.subarray(found.end), offset: window.offset + found.end }
      this.#ahead = this.#begin(next, found.position, options, PART_BYTES_MAX)
    }
    return await readPage(this.#codec, page)
  }

  #begin(window: Window, position: ScanPosition, options: ScanOptions, firstPart: number): Page {
    const found = findUnits(this.#salt, window, position, options)
    return {
      window,
      position,
      options,
      found,
      parts: startDecoding(this.#codec, window.bytes, found.wanted, firstPart),
    }
  }
}

/** Units of one window, being decoded. */
interface Page {
  readonly window: Window
  readonly position: ScanPosition
  readonly options: ScanOptions
  readonly found: FoundUnits
  readonly parts: readonly Part[]
}

/** Whether this page was begun of the same bytes, for the same range. */
function isPageOf(page: Page, { bytes, offset }: Window, position: ScanPosition, options: ScanOptions): boolean {
  const { window } = page
  return (
    page.options === options &&
    page.position.nextSeq === position.nextSeq &&
    window.offset === offset &&
    window.bytes.buffer === bytes.buffer &&
    window.bytes.byteOffset === bytes.byteOffset &&
    window.bytes.length === bytes.length
  )
}

async function readPage(codec: ZstdCodec, { window, options, found, parts }: Page): Promise<ScanResult> {
  let records: StoredRecord[] = []
  let bad = await readParts(codec, window.bytes, parts, options, records)
  if (bad === undefined) {
    return { records, end: window.offset + found.end, position: found.position, ...damageOf(window, found.end, found) }
  }
  for (;;) {
    // Records of the damaged unit may be among them, also as a part of a longer run: what stands before it is read again.
    records = []
    const before = found.wanted.slice(0, found.wanted.indexOf(bad.unit))
    const again = startDecoding(codec, window.bytes, before, PART_BYTES_MAX)
    const earlier = await readParts(codec, window.bytes, again, options, records)
    if (earlier === undefined) break
    // A codec that fails now and then: the page ends there, so that nothing is passed over.
    bad = earlier
  }
  const { firstSeq } = bad.unit.commit
  return {
    records,
    end: window.offset + bad.unit.start,
    position: { nextSeq: firstSeq, batchSeq: firstSeq },
    ...damageOf(window, bad.unit.start, { damage: damaged(firstSeq, bad.why) }),
  }
}

function damageOf({ offset }: Window, at: number, { damage }: { readonly damage?: Wrong }): { damage?: Damage } {
  return damage === undefined ? {} : { damage: { ...damage, offset: offset + at } }
}

interface BadUnit {
  readonly unit: FrameUnit
  readonly why: string
}

/** Units whose content is decoded in one call; undefined when it is not what they declare. */
interface Part {
  readonly units: readonly FrameUnit[]
  readonly contents: Promise<Buffer | undefined>
}

function startDecoding(
  codec: ZstdCodec,
  bytes: Buffer,
  units: readonly FrameUnit[],
  firstPart: number,
): readonly Part[] {
  return partsOf(units, firstPart).map((part) => {
    const contents = decompress(codec, bytes, part)
    // Heard of when its turn comes.
    contents.catch(() => {})
    return { units: part, contents }
  })
}

async function readParts(
  codec: ZstdCodec,
  bytes: Buffer,
  parts: readonly Part[],
  options: ScanOptions,
  into: StoredRecord[],
): Promise<BadUnit | undefined> {
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

function partsOf(units: readonly FrameUnit[], firstPart: number): readonly (readonly FrameUnit[])[] {
  const parts: FrameUnit[][] = []
  let content = Number.POSITIVE_INFINITY
  let wanted = firstPart / 2
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
