// Proves that ids become file names injectively, within every file system's rules, and that only our names decode.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeSessionName, encodeSessionName, isLongSessionName } from '../src/index.ts'

const SCALE = Math.max(1, Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? '1') || 1)

const HOSTILE = [
  '.', '..', '...', '.locks', '.tmp-x', '/', '//', '\\', '../x', '..\\x', 'a/b', 'a\\b', '\0', 'a\0b', '\n', '\u007f',
  ' ', 'a ', 'a.', ' a', '.a', '~', '%', '%2e', '%2e%2e', 'con', 'CON', 'con.txt', 'nul', 'aux.', 'com1', 'COM1', 'lpt9.log',
  'conx', 'com', 'com10', 'Abc', 'abc', 'ABC', '\u00e9', 'e\u0301', '\u212b', '\u00c5', 'x'.repeat(300), 'X'.repeat(300),
  '漢'.repeat(100), '👩‍👩‍👧', 'torn-1-1', 'session.jsonl', '*?<>|":', '$HOME', '-rf', '--', 'a'.repeat(120), 'a'.repeat(121),
] // biome-ignore format: a list

describe('an encoded name', () => {
  const wellFormed = fc.string({ unit: 'binary', minLength: 1, maxLength: 400 })
  const samples = fc.oneof(wellFormed, fc.string({ minLength: 1 }), fc.constantFrom(...HOSTILE))

  it('is a plain, short, case-safe file name', () => {
    fc.assert(
      fc.property(samples, (id) => {
        const name = encodeSessionName(id)
        expect(name).toMatch(/^[a-z0-9_%-][a-z0-9_.%~-]*$/)
        expect(name.length).toBeLessThanOrEqual(120)
        expect(name).not.toMatch(/\.$/)
        expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/)
      }),
      { numRuns: 2000 * SCALE },
    )
  })

  it('decodes to its id, unless it is too long to spell it out', () => {
    fc.assert(
      fc.property(samples, (id) => {
        const name = encodeSessionName(id)
        expect(decodeSessionName(name)).toBe(isLongSessionName(name) ? undefined : id)
      }),
      { numRuns: 2000 * SCALE },
    )
  })

  it('is another one for another id', () => {
    expect(new Set(HOSTILE.map(encodeSessionName)).size).toBe(new Set(HOSTILE).size)
    fc.assert(
      fc.property(samples, samples, (a, b) => (encodeSessionName(a) === encodeSessionName(b)) === (a === b)),
      { numRuns: 2000 * SCALE },
    )
  })
})

it('gives no id to a name that no id has', () => {
  for (const name of [
    '',
    '.',
    '..',
    '.locks',
    'A',
    'a b',
    '%',
    '%4',
    '%4A',
    '%61',
    'con',
    'a.',
    '.a',
    'x copy',
    'x~1',
    '%ff',
    '%c3',
  ]) {
    expect(decodeSessionName(name)).toBeUndefined()
  }
})

it('keeps uuids and simple words as they are', () => {
  for (const id of ['01930000-0000-7000-8000-000000000001', 'my_session.2']) expect(encodeSessionName(id)).toBe(id)
})
