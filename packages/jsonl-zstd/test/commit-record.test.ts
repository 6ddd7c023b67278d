// Proves that a commit record keeps every number exactly, holds for its own salt and place only, and tells a moved, a
// foreign and a damaged one apart.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SCALE } from '../../jsonl/test/parts/scale.ts'
import {
  COMMIT_BYTES,
  type Commit,
  readCommit,
  readForeignCommit,
  readMovedCommit,
  saltOf,
  writeCommit,
} from '../src/commit-record.ts'

const uint32 = fc.integer({ min: 0, max: 0xffffffff })
const commits: fc.Arbitrary<Commit> = fc.record({
  kind: fc.constantFrom('batch' as const, 'sealed' as const),
  firstSeq: fc.maxSafeNat(),
  lastTime: fc.maxSafeInteger(),
  frameBytes: uint32,
  contentBytes: uint32,
  frameCrc: uint32,
  events: fc.integer({ min: 0, max: 0xffffff }),
})

function recordOf(commit: Commit, salt: number, offset: number): Buffer {
  const bytes = Buffer.alloc(COMMIT_BYTES + 10, 0xaa)
  writeCommit(bytes, 5, commit, salt, offset)
  expect(bytes.subarray(0, 5)).toEqual(Buffer.alloc(5, 0xaa))
  expect(bytes.subarray(5 + COMMIT_BYTES)).toEqual(Buffer.alloc(5, 0xaa))
  return Buffer.from(bytes.subarray(5, 5 + COMMIT_BYTES))
}

describe('a record', () => {
  it('comes back with every number exact, and is found by its salt', () => {
    fc.assert(
      fc.property(commits, uint32, fc.maxSafeNat(), (commit, salt, offset) => {
        const record = recordOf(commit, salt, offset)
        expect(readCommit(record, 0, salt, offset)).toEqual(commit)
        expect(record.at(-1)).not.toBe(0)
        expect(saltOf(record, 0, offset)).toBe(salt)
      }),
      { numRuns: 500 * SCALE },
    )
  })

  it('is a skippable frame to everybody else', () => {
    const record = recordOf(
      { kind: 'batch', firstSeq: 1, lastTime: 2, frameBytes: 3, contentBytes: 4, frameCrc: 5, events: 6 },
      7,
      8,
    )
    expect(record.readUInt32LE(0) & 0xfffffff0).toBe(0x184d2a50)
    expect(record.readUInt32LE(4)).toBe(record.length - 8)
  })

  it('with any bit flipped does not hold, nor with another salt, nor at another place', () => {
    fc.assert(
      fc.property(commits, uint32, fc.nat(0xfffffff), uint32, (commit, salt, offset, other) => {
        const record = recordOf(commit, salt, offset)
        for (let bit = 0; bit < 8 * COMMIT_BYTES; bit++) {
          const flipped = Buffer.from(record)
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          expect(readCommit(flipped, 0, salt, offset)).toBeUndefined()
          expect(readForeignCommit(flipped, 0, salt, offset) ?? commit.frameCrc).toBeDefined()
        }
        if (other !== salt) expect(readCommit(record, 0, other, offset)).toBeUndefined()
        expect(readCommit(record, 0, salt, offset + 1 + (other % 1000))).toBeUndefined()
      }),
      { numRuns: 20 * SCALE },
    )
  })

  it('of another place of the same file is told, with what it says', () => {
    fc.assert(
      fc.property(commits, uint32, fc.nat(1_000_000), fc.nat(1_000_000), (commit, salt, home, place) => {
        const found = readMovedCommit(recordOf(commit, salt, home), 0, salt, place)
        expect(found).toEqual(home === place ? undefined : commit)
      }),
      { numRuns: 500 * SCALE },
    )
  })

  it('of another session is foreign; one with a damaged byte of its sum is not', () => {
    const commit: Commit = {
      kind: 'batch',
      firstSeq: 12,
      lastTime: 1_700_000_000_000,
      frameBytes: 100,
      contentBytes: 200,
      frameCrc: 0xdeadbeef,
      events: 3,
    }
    const record = recordOf(commit, 1, 1000)
    expect(readForeignCommit(record, 0, 2, 1000)).toEqual(commit)
    record[40] = (record[40] ?? 0) ^ 0x10
    expect(readForeignCommit(record, 0, 1, 1000)).toBeUndefined()
    expect(readCommit(record, 0, 1, 1000)).toBeUndefined()
  })

  it.each([
    [Number.MAX_SAFE_INTEGER + 1, 0],
    [-1, 0],
    [0, Number.MAX_SAFE_INTEGER + 1],
  ])('with a seq of %d or a time of %d is refused though its sum holds', (firstSeq, lastTime) => {
    const commit: Commit = { kind: 'batch', firstSeq, lastTime, frameBytes: 1, contentBytes: 1, frameCrc: 1, events: 1 }
    expect(readCommit(recordOf(commit, 3, 4), 0, 3, 4)).toBeUndefined()
  })

  it('that is cut, or not there, is none', () => {
    const bytes = Buffer.alloc(COMMIT_BYTES - 1)
    expect(readCommit(bytes, 0, 0, 0)).toBeUndefined()
    expect(readCommit(bytes, -10, 0, 0)).toBeUndefined()
    expect(readCommit(Buffer.alloc(COMMIT_BYTES), 0, 0, 0)).toBeUndefined()
  })
})
