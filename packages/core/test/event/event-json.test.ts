// Proves that an event has one canonical JSON and one receipt, however it came, and that its size limit is exact.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32Hex } from '../../src/event/crc32.ts'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { checkEventBytes } from '../../src/event/event-bytes.ts'
import { eventJson, headReceipt } from '../../src/event/event-json.ts'
import { losslessCopy } from '../../src/event/lossless-json.ts'
import { LIMITS } from '../../src/limits.ts'
import { anyLog, scale } from './arbitraries.ts'

describe('eventJson', () => {
  it('writes the documented key order', () => {
    const event: AnySessionEvent = {
      sources: [[0, 1]],
      surface: { replace: [0, 1] },
      ignorable: true,
      data: { b: 1, a: '\ud800é' },
      type: 'user/message',
      time: 5,
      seq: 2,
    }
    expect(eventJson(event)).toBe(
      '{"seq":2,"time":5,"type":"user/message","data":{"b":1,"a":"\\ud800é"},"ignorable":true,"surface":{"replace":[0,1]},"sources":[[0,1]]}',
    )
  })

  it('is the same for every key order, and gives the event back', () => {
    const shuffled = anyLog().chain((log) =>
      fc.tuple(
        fc.constant(log),
        fc.tuple(
          ...log.map((event) => fc.shuffledSubarray(Object.entries(event), { minLength: Object.keys(event).length })),
        ),
      ),
    )
    fc.assert(
      fc.property(shuffled, ([log, entries]) => {
        log.forEach((event, at) => {
          const json = eventJson(event)
          expect(JSON.parse(json)).toEqual(event)
          expect(eventJson(Object.fromEntries(entries[at] ?? []) as unknown as AnySessionEvent)).toBe(json)
        })
      }),
      { numRuns: 100 * scale },
    )
  })
})

describe('receipts', () => {
  it('crc32Hex is the CRC-32 of zlib, over UTF-8, in eight digits, and can go on from a seed', () => {
    // The check value of CRC-32/ISO-HDLC.
    expect(crc32Hex('123456789')).toBe('cbf43926')
    expect(crc32Hex(Buffer.from('123456789'))).toBe('cbf43926')
    expect(crc32Hex('')).toBe('00000000')
    expect(crc32Hex('é')).toBe(crc32Hex(Buffer.from([0xc3, 0xa9])))
    expect(crc32Hex('456789', Number.parseInt(crc32Hex('123'), 16))).toBe('cbf43926')
  })

  it('of an empty log, and of an event', () => {
    expect(headReceipt(undefined)).toEqual({ seq: -1, crc: '00000000' })
    const event = { seq: 3, time: 1, type: 'acme/note', data: 'é' }
    expect(headReceipt(event)).toEqual({ seq: 3, crc: crc32Hex('{"seq":3,"time":1,"type":"acme/note","data":"é"}') })
  })

  it('differ for different events', () => {
    const event = { seq: 3, time: 1, type: 'acme/note', data: 'a' }
    for (const other of [
      { ...event, time: 2 },
      { ...event, data: 'b' },
      { ...event, ignorable: true as const },
    ]) {
      expect(headReceipt(other).crc).not.toBe(headReceipt(event).crc)
    }
  })
})

describe('checkEventBytes', () => {
  const limit = 4096
  const eventOf = (data: string): { event: AnySessionEvent; size: number } => {
    const copy = losslessCopy(data)
    return { event: { seq: 0, time: 0, type: 'a/b', data: copy.value }, size: copy.size + 64 }
  }
  const tooLarge = expect.objectContaining({ code: 'TOO_LARGE', expected: limit })

  it.each(['x', '\0', 'é', '会', '\ud800', '"'])('is exact to the byte for texts of %j', (unit) => {
    const unitBytes = Buffer.byteLength(JSON.stringify(unit)) - 2
    const room = limit - Buffer.byteLength(eventJson(eventOf('').event))
    const units = Math.floor(room / unitBytes)
    const fits = eventOf(unit.repeat(units) + 'x'.repeat(room - units * unitBytes))
    expect(Buffer.byteLength(eventJson(fits.event))).toBe(limit)
    expect(() => checkEventBytes(fits.event, fits.size, limit)).not.toThrow()
    const over = eventOf(unit.repeat(units) + 'x'.repeat(room - units * unitBytes + 1))
    expect(() => checkEventBytes(over.event, over.size, limit)).toThrow(tooLarge)
  })

  it('counts sources too', () => {
    const sources = Array.from({ length: 1000 }, () => [0, 0] as const)
    const event = { ...eventOf('').event, sources }
    expect(() => checkEventBytes(event, 64 + losslessCopy(sources).size, limit)).toThrow(tooLarge)
  })

  it('does not measure what cannot fit', () => {
    const unmeasurable = {
      toJSON() {
        throw new RangeError('Invalid string length')
      },
    }
    const event = { seq: 0, time: 0, type: 'a/b', data: unmeasurable }
    expect(() => checkEventBytes(event, 2 * limit, limit)).toThrow(tooLarge)
  })

  it('refuses at the limit of the product what would overflow a JavaScript string', () => {
    const copy = losslessCopy('\0'.repeat(LIMITS.eventBytes - 2))
    const event = { seq: 0, time: 0, type: 'a/b', data: copy.value }
    expect(() => checkEventBytes(event, copy.size)).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', expected: LIMITS.eventBytes }),
    )
  }, 60_000)
})
