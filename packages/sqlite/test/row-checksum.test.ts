// Proves that the checksum of a row is the documented one, for every value that its columns can have.
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { recordCrc } from '../src/row-checksum.ts'
import type { RecordRow } from '../src/row-codec.ts'
import { SCALE } from './parts/scale.ts'

/** docs/formats/sqlite.md, word by word. */
function documented({ seq, time, events, type, extra, data }: RecordRow, salt: number): number {
  const columns = [seq, time, events, type, extra ?? ''].map((column) => `${column}\n`).join('')
  return crc32(Buffer.from(columns + data, 'utf8'), salt)
}

const edges = [0, 9, 10, 99_999_999, 100_000_000, 2 ** 31, 2 ** 32 - 1, 1_700_000_000_000, Number.MAX_SAFE_INTEGER]
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('assistant/chunk', 'x'.repeat(100)))
const row: fc.Arbitrary<RecordRow> = fc.record({
  seq: fc.oneof(fc.constantFrom(...edges.slice(0, 7)), fc.nat()),
  time: fc.oneof(fc.constantFrom(...edges, ...edges.map((edge) => -edge)), fc.maxSafeInteger()),
  events: fc.oneof(fc.integer({ min: -2, max: 2000 }), fc.maxSafeInteger()),
  type: text,
  data: text,
  extra: fc.option(text),
})

it('the checksum of a row is the one that the format documents', () => {
  fc.assert(
    fc.property(row, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (any, salt) => {
      expect(recordCrc(any, any.data, salt)).toBe(documented(any, salt))
      expect(recordCrc(any, Buffer.from(any.data, 'utf8'), salt)).toBe(documented(any, salt))
    }),
    { numRuns: 2000 * SCALE },
  )
})
