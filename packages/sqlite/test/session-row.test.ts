// Proves that a session's row is believed only when it is whole, and that ids compare in the database as in a listing.
import { crc32 } from 'node:zlib'
import { compareListKeys, isSessionError } from '@session-persistence/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeHeader,
  decodeId,
  decodeSessionRow,
  encodeId,
  headerCrc,
  type SessionRow,
  sessionCrc,
} from '../src/session-row.ts'
import { sampleHeader } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'

const ROW: SessionRow = { number: 3, id: 's', place: '', salt: 7, nextSeq: 12, updatedAt: -5, bytes: 100 }

function stored(row: SessionRow): unknown[] {
  const { number, id, place, salt, nextSeq, updatedAt, bytes } = row
  return [number, encodeId(id), place, salt, nextSeq, updatedAt, bytes, sessionCrc(row)]
}

describe('ids in the database', () => {
  const id = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u0000', '\uffff', '👋')) })

  it('come back as they were and keep the order of code units', () => {
    fc.assert(
      fc.property(id, id, (a, b) => {
        if (a !== '') expect(decodeId(encodeId(a))).toBe(a)
        expect(Math.sign(Buffer.compare(encodeId(a), encodeId(b)))).toBe(
          Math.sign(compareListKeys({ updatedAt: 1, id: a }, { updatedAt: 1, id: b })),
        )
      }),
      { numRuns: 500 * SCALE },
    )
  })

  it('are undefined for bytes that no id has', () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('abc'), 'text', 5, null]) expect(decodeId(bytes)).toBeUndefined()
  })
})

/** docs/formats/sqlite.md, word by word. */
function documented({ number, id, place, salt, nextSeq, updatedAt, bytes }: SessionRow): number {
  const columns = [number, place, salt, nextSeq, updatedAt, bytes].map((column) => `${column}\n`).join('')
  return crc32(Buffer.concat([Buffer.from(columns, 'utf8'), encodeId(id)]))
}

describe('a session row', () => {
  it('has the checksum that the format documents', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '.staged', 'x'.repeat(100)))
    const count = fc.oneof(fc.constantFrom(0, 99_999_999, 100_000_000, Number.MAX_SAFE_INTEGER), fc.nat())
    const row: fc.Arbitrary<SessionRow> = fc.record({
      number: count,
      id: text,
      place: text,
      salt: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      nextSeq: count,
      updatedAt: fc.oneof(count, fc.maxSafeInteger()),
      bytes: count,
    })
    fc.assert(
      fc.property(row, (any) => {
        expect(sessionCrc(any)).toBe(documented(any))
      }),
      { numRuns: 1000 * SCALE },
    )
  })

  it('comes back as it was', () => {
    expect(decodeSessionRow(stored(ROW))).toEqual(ROW)
  })

  it.each(stored(ROW).map((_, column) => column))('is CORRUPT when column %i changed', (column) => {
    for (const value of [999, 'x', Buffer.from('x'), null, -1]) {
      expect(() => decodeSessionRow(stored(ROW).with(column, value))).toThrow(
        expect.objectContaining({ code: 'CORRUPT' }) as Error,
      )
    }
  })
})

describe('a stored header', () => {
  const text = JSON.stringify(sampleHeader('s'))

  it('is read under the salt of its session only', () => {
    expect(decodeHeader([text, headerCrc(text, ROW.salt)], ROW)).toEqual(sampleHeader('s'))
    expect(() => decodeHeader([text, headerCrc(text, ROW.salt + 1)], ROW)).toThrow(/damaged/)
    expect(() => decodeHeader(undefined, ROW)).toThrow(/damaged/)
  })

  it('of another session is CORRUPT', () => {
    const other = JSON.stringify(sampleHeader('other'))
    expect(() => decodeHeader([other, headerCrc(other, ROW.salt)], ROW)).toThrow(/another session/)
  })

  it('of a newer format is told by its number before anything else is asked of it', () => {
    const newer = JSON.stringify({ version: 99, shape: 'unknown' })
    try {
      decodeHeader([newer, headerCrc(newer, ROW.salt)], ROW)
      expect.unreachable()
    } catch (error) {
      expect(isSessionError(error, 'UNSUPPORTED_VERSION') && [error.expected, error.found]).toEqual([1, 99])
    }
  })
})
