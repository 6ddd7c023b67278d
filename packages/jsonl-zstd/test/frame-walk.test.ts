// Proves that frames are walked by their structure: every cut is incomplete, every end is where the codec put it, and a
// magic number inside a frame is nothing.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SCALE } from '../../jsonl/test/parts/scale.ts'
import { walkFrame } from '../src/frame-walk.ts'
import { chooseCodec } from '../src/index.ts'
import { encodeFrame, encodeRawFrame, readRawFrame } from '../src/zstd-frame.ts'

const codec = chooseCodec()
const MAGIC = Buffer.from('28b52ffd', 'hex')

describe('a walk', () => {
  it('ends where each of many frames ends, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3000 }), { minLength: 1, maxLength: 6 }), async (parts) => {
        const contents = parts.map((part) => Buffer.concat([part, MAGIC, part]))
        const frames: Buffer[] = []
        for (const [index, content] of contents.entries()) {
          frames.push(index % 2 === 0 ? await encodeFrame(codec, content) : await encodeRawFrame(content))
        }
        const all = Buffer.concat(frames)
        let at = 0
        for (const [index, frame] of frames.entries()) {
          const walk = walkFrame(all, at)
          expect(walk).toMatchObject({ kind: 'frame', end: at + frame.length })
          if (walk.kind === 'frame') {
            expect(walk.header.contentSize).toBe(contents[index]?.length)
            expect(walk.contentMax).toBeGreaterThanOrEqual(contents[index]?.length ?? 0)
            if (index % 2 === 1) expect(readRawFrame(all, walk)?.equals(contents[index] ?? MAGIC)).toBe(true)
          }
          at += frame.length
        }
        expect(at).toBe(all.length)
      }),
      { numRuns: 60 * SCALE },
    )
  })

  it('of a frame cut at any byte is incomplete', async () => {
    for (const frame of [
      await encodeFrame(codec, Buffer.from('some words')),
      await encodeFrame(codec, Buffer.alloc(70_000, 'ab')),
      await encodeRawFrame(Buffer.alloc(300, 'x')),
    ]) {
      for (let length = 0; length < frame.length; length++) {
        expect(walkFrame(frame.subarray(0, length), 0).kind).toBe('incomplete')
      }
    }
  })

  it('of a skippable frame ends behind it, or is incomplete', () => {
    const frame = Buffer.from('5f2a4d180400000061626364', 'hex')
    expect(walkFrame(Buffer.concat([frame, frame]), 0)).toEqual({ kind: 'skippable', end: 12 })
    for (let length = 4; length < frame.length; length++) {
      expect(walkFrame(frame.subarray(0, length), 0).kind).toBe('incomplete')
    }
  })

  it.each([
    ['no magic number', '28b52ffc2000010000'],
    ['the start of no magic number', '28b6'],
    ['a reserved bit', '28b52ffd2800010000'],
    ['a dictionary id', '28b52ffd210700010000'],
    ['a window of 2 TiB', '28b52ffd00f8010000'],
    ['a reserved block type', '28b52ffd200a570000'],
    ['a block larger than the content', '28b52ffd200a590000'],
    ['an empty block that is not the last', '28b52ffd200a000000'],
    ['a size beyond 2^53', `28b52ffde0${'ff'.repeat(8)}`],
  ])('refuses %s', (_, hex) => {
    const walk = walkFrame(Buffer.from(hex, 'hex'), 0)
    expect(walk).toMatchObject({ kind: 'invalid', why: expect.any(String) })
  })

  it('of any bytes ends, and never behind them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const all = Buffer.concat([MAGIC, bytes])
        const walk = walkFrame(all, 0)
        if (walk.kind === 'frame') expect(walk.end).toBeLessThanOrEqual(all.length)
      }),
      { numRuns: 3000 * SCALE },
    )
  })
})
