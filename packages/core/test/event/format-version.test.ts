// Proves the way up from older formats with invented versions: step by step, one event for one event, and a typed
// refusal with both numbers for everything else.
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { createUpgradeChain, FORMAT_VERSION, type UpgradeStep } from '../../src/event/format-version.ts'
import type { SessionHeader } from '../../src/event/header.ts'

const rename = (from: number, before: string, after: string): UpgradeStep => ({
  from,
  header: (header) => ({ ...header, origin: `${header.origin ?? ''}>${from}` }),
  event: (event) => (event.type === before ? { ...event, type: after, data: { was: event.data } } : event),
})

const header: SessionHeader = { version: 0, id: 'a', createdAt: 1, messageFormat: 'plain' }
const event: AnySessionEvent = { seq: 4, time: 9, type: 'a/a', data: 1, ignorable: true }

describe('a chain', () => {
  it('without steps supports the current version only', () => {
    const chain = createUpgradeChain([])
    expect(chain.current).toBe(FORMAT_VERSION)
    expect(() => chain.check(FORMAT_VERSION)).not.toThrow()
    const current = { ...header, version: FORMAT_VERSION }
    expect(chain.header(current)).toBe(current)
    expect(chain.event(FORMAT_VERSION, event)).toBe(event)
    for (const version of [FORMAT_VERSION + 1, FORMAT_VERSION - 1]) {
      const refused = expect.objectContaining({
        code: 'UNSUPPORTED_VERSION',
        expected: FORMAT_VERSION,
        found: version,
      })
      expect(() => chain.check(version)).toThrow(refused)
      expect(() => chain.header({ ...header, version })).toThrow(refused)
      expect(() => chain.event(version, event)).toThrow(refused)
    }
  })

  it.each([[undefined], [null], ['1'], [1.5], [-1], [Number.NaN]])('refuses %s as a version', (version) => {
    const chain = createUpgradeChain([rename(0, 'a/a', 'b/b')])
    expect(() => chain.check(version)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_VERSION', expected: 1 }))
  })

  it('runs every step from the stored version on, in order', () => {
    const steps = [rename(1, 'b/b', 'c/c'), rename(0, 'a/a', 'b/b'), rename(2, 'c/c', 'd/d')]
    const chain = createUpgradeChain(steps, 3)
    expect(chain.header(header)).toEqual({ ...header, version: 3, origin: '>0>1>2' })
    expect(chain.header({ ...header, version: 2 })).toEqual({ ...header, version: 3, origin: '>2' })
    expect(chain.event(0, event)).toEqual({ ...event, type: 'd/d', data: { was: { was: { was: 1 } } } })
    expect(chain.event(1, event)).toEqual(event)
    expect(event.type).toBe('a/a')
    expect(header.version).toBe(0)
    expect(() => chain.check(4)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_VERSION', expected: 3, found: 4 }),
    )
  })

  it.each([
    ['a gap', [rename(0, 'a', 'b'), rename(2, 'c', 'd')], 3],
    ['a step twice', [rename(1, 'a', 'b'), rename(1, 'a', 'b')], 2],
    ['an end that is not the current version', [rename(0, 'a', 'b')], 2],
    ['more steps than versions', [rename(-1, 'a', 'b'), rename(0, 'a', 'b')], 1],
  ])('with %s is refused', (_, steps, current) => {
    expect(() => createUpgradeChain(steps, current)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it.each<[string, (event: AnySessionEvent) => AnySessionEvent]>([
    ['seq', (old) => ({ ...old, seq: old.seq + 1 })],
    ['time', (old) => ({ ...old, time: 0 })],
  ])('refuses a step that changes %s', (_, change) => {
    const chain = createUpgradeChain([{ ...rename(0, 'a', 'b'), event: change }])
    expect(() => chain.event(0, event)).toThrow(expect.objectContaining({ code: 'INVARIANT', seq: 4 }))
  })

  it('refuses an upgraded header that is not one', () => {
    const chain = createUpgradeChain([{ ...rename(0, 'a', 'b'), header: (old) => ({ ...old, id: '' }) }])
    expect(() => chain.header(header)).toThrow(expect.objectContaining({ code: 'CORRUPT', path: '$.id' }))
  })
})
