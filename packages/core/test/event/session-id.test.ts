// Proves which ids are accepted: any well-formed text within the limit, whatever characters it holds.
import { describe, expect, it } from 'vitest'
import { checkSessionId, newSessionId } from '../../src/event/session-id.ts'
import { LIMITS } from '../../src/limits.ts'

describe('checkSessionId', () => {
  it.each([
    '..',
    '.',
    '/',
    '\\',
    'a/b',
    '\0',
    '\n',
    ' ',
    'CON',
    'name.',
    'name ',
    'x'.repeat(300),
    '会'.repeat(100),
    '😀'.repeat(LIMITS.idBytes / 4),
    'Abc',
    'e\u0301',
    '\ufeff',
    '__proto__',
  ])('accepts %j as it is', (id) => {
    expect(checkSessionId(id)).toBe(id)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['an object', { toString: () => 'id' }],
    ['the empty text', ''],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\udc00b'],
    ['surrogates in the wrong order', '\udc00\ud83d'],
    ['one byte too many', 'x'.repeat(LIMITS.idBytes + 1)],
    ['too many bytes in few characters', '会'.repeat(Math.floor(LIMITS.idBytes / 3) + 1)],
  ])('refuses %s', (_, id) => {
    expect(() => checkSessionId(id)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
  })

  it('accepts the limit itself', () => {
    expect(checkSessionId('x'.repeat(LIMITS.idBytes))).toHaveLength(LIMITS.idBytes)
  })
})

describe('newSessionId', () => {
  it('makes distinct UUIDs of version 7 that sort in the order they were made', () => {
    const ids = Array.from({ length: 1000 }, () => newSessionId())
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...ids].sort()).toEqual(ids)
    expect(checkSessionId(ids[0])).toBe(ids[0])
  })
})
