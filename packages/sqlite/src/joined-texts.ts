/**
 * The texts of several rows, read as bytes in one piece: a buffer and a parse for many rows cost a good deal less than
 * one for each (docs/decisions/0005-sqlite-layout.md). Pure.
 */
import buffer from 'node:buffer'
import { randomInt } from 'node:crypto'

/** Larger pieces are rare, and not worth two more copies in memory. */
const TRANSCODED_BYTES_MAX = 1024 * 1024

const SEPARATOR_MIN = 2 ** 47
/** Not to be guessed: a text that held it could pass for two, and two that miss a bracket each for one. */
const SEPARATOR = randomInt(SEPARATOR_MIN, 2 * SEPARATOR_MIN - 1)

/** Between two texts. */
export const BETWEEN_TEXTS: string = `,${SEPARATOR},`
/** Before the first one; a single byte comes behind the last. */
const BEFORE = 1

/** The text of one row. */
export interface StoredText {
  readonly bytes: Buffer
  /** Of joined texts false for all when it is for one. */
  isUtf8(): boolean
  /** What a text of UTF-8 says as JSON, to be used once; SyntaxError when it is none. */
  value(): unknown
}

/** A text that was read by itself. */
export function singleText(bytes: Buffer): StoredText {
  return { bytes, isUtf8: () => buffer.isUtf8(bytes), value: () => parseText(bytes) }
}

/**
 * Takes `[`, the texts with {@link BETWEEN_TEXTS} between them, and `]` apart. Undefined when their lengths in bytes do
 * not add up. `together`: all are parsed as soon as one is; otherwise each by itself.
 */
export function splitTexts(
  joined: Buffer,
  lengths: readonly number[],
  together: boolean,
): readonly StoredText[] | undefined {
  const all = new JoinedTexts(joined, lengths.length, together)
  const texts: StoredText[] = []
  let start = BEFORE
  for (const length of lengths) {
    texts.push(new JoinedText(joined.subarray(start, start + length), all, texts.length))
    start += length + BETWEEN_TEXTS.length
  }
  return start - BETWEEN_TEXTS.length + BEFORE === joined.length ? texts : undefined
}

class JoinedText implements StoredText {
  readonly bytes: Buffer
  readonly #all: JoinedTexts
  readonly #at: number

  constructor(bytes: Buffer, all: JoinedTexts, at: number) {
    this.bytes = bytes
    this.#all = all
    this.#at = at
  }

  isUtf8(): boolean {
    return this.#all.isUtf8()
  }

  value(): unknown {
    const values = this.#all.values()
    return values === undefined ? parseText(this.bytes) : values[2 * this.#at]
  }
}

class JoinedTexts {
  readonly #bytes: Buffer
  readonly #count: number
  readonly #together: boolean
  #isUtf8: boolean | undefined
  #values: readonly unknown[] | 'none' | undefined

  constructor(bytes: Buffer, count: number, together: boolean) {
    this.#bytes = bytes
    this.#count = count
    this.#together = together
  }

  isUtf8(): boolean {
    this.#isUtf8 ??= buffer.isUtf8(this.#bytes)
    return this.#isUtf8
  }

  /** The values of all texts, a separator between each two; undefined when they have to be parsed one by one. */
  values(): readonly unknown[] | undefined {
    this.#values ??= this.#together ? this.#parse() : 'none'
    return this.#values === 'none' ? undefined : this.#values
  }

  #parse(): readonly unknown[] | 'none' {
    try {
      const values = parseText(this.#bytes)
      return isSeparated(values, this.#count) ? values : 'none'
    } catch {
      return 'none'
    }
  }
}

/**
 * Whether the texts are those values. There are as many separators in the joined text as there should be, and no other
 * one in any of them: when each stands at its place, what is between two of them was one text, and is one value.
 */
function isSeparated(values: unknown, count: number): values is readonly unknown[] {
  if (!Array.isArray(values) || values.length !== 2 * count - 1) return false
  for (let at = 1; at < values.length; at += 2) if (values[at] !== SEPARATOR) return false
  return true
}

/** Of bytes that are UTF-8. Node's own way takes 1.2 ns a byte, of ASCII too; these take 0.25 and 0.6. */
function parseText(bytes: Buffer): unknown {
  if (buffer.isAscii(bytes)) return JSON.parse(bytes.toString('latin1'))
  // Builds of Node without ICU have no `transcode`.
  const isTranscoded = bytes.length <= TRANSCODED_BYTES_MAX && typeof buffer.transcode === 'function'
  return JSON.parse(isTranscoded ? buffer.transcode(bytes, 'utf8', 'ucs2').toString('ucs2') : bytes.toString('utf8'))
}
