// What the kit did to stored bytes is told in a few words, and stands in the history of a failure.
import { createMemoryMedium, openMemory } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import type { ConformanceCase } from '../src/conformance-case.ts'
import { damageOf, damageOfFile, damageOfRecords } from '../src/describe-damage.ts'
import { expectThat } from '../src/expectation.ts'
import { locateStoredLog } from '../src/located-log.ts'
import { zeroedParts } from '../src/log-parts.ts'
import { runConformance } from '../src/run-conformance.ts'
import { turnEvents } from '../src/workload.ts'

const whole = Buffer.from('header one two')

describe('damage', () => {
  it.each([
    ['nothing', whole, undefined],
    ['a cut', whole.subarray(0, 6), 'cut 14 bytes to 6'],
    ['a flipped bit', Buffer.from('heaeer one two'), 'flipped bit 0 of byte 3'],
    ['zeros', Buffer.from('hea\0\0\0 one two'), 'zeroed bytes 3\u20135'],
    ['other bytes', Buffer.from('HEAder one two'), 'changed bytes 0\u20132'],
    ['more bytes', Buffer.from('header one two three'), 'put 20 other bytes in place of 14'],
  ])('%s', (_, after, words) => {
    expect(damageOf(whole, after)).toBe(words)
  })

  it('of records names the record', () => {
    const parts = [[Buffer.from('header'), Buffer.from('one')], [Buffer.from('two')]]
    expect(damageOfRecords(parts, zeroedParts(parts, 6, 9))).toBe('zeroed bytes 0\u20132 of record 2')
    expect(damageOfRecords(parts, zeroedParts(parts, 0, 9))).toBe(
      'zeroed bytes 0\u20135 of record 1, and 1 more records',
    )
    expect(damageOfRecords(parts, parts.slice(0, 1))).toBe('put 2 records in place of 3')
    expect(damageOfRecords(parts, parts)).toBeUndefined()
    expect(damageOfFile(parts, zeroedParts(parts, 6, 9))).toBe('zeroed bytes 6\u20138')
  })
})

it('the history of a failure has what the kit did', async () => {
  const damaging: ConformanceCase = {
    ...{ id: 'IO-1', level: 'MUST', family: 'IO', title: 'A clause.', why: 'x', since: '0.1', needs: { tier: 'io' } },
    run: async (context) => {
      const persistence = await context.open()
      const log = await locateStoredLog(context, persistence, 's', [turnEvents(1), turnEvents(2)])
      await log.store(zeroedParts(log.parts, 1, 3))
      expectThat(false, 'always')
    },
  }
  const createMedium = () => {
    const medium = createMemoryMedium()
    const stored = [Buffer.from('header'), Buffer.from('a'), Buffer.from('b')]
    let asked = 0
    return {
      open: (options = {}) => openMemory({ ...options, medium }),
      records: {
        read: async () => {
          asked += 1
          return stored.slice(0, asked + 1)
        },
        write: async () => {},
      },
    }
  }
  const options = { families: ['IO'] as const, extensions: [{ tier: 'io' as const, cases: [damaging] }] }
  const report = await runConformance({ name: 'x', createMedium }, options)
  expect(report.results[0]?.failure?.history.at(-1)).toBe('the kit: session "s": zeroed bytes 1\u20132 of record 1')
})
