// Proves that texts that are read in one piece say what each says by itself, and that no two pass for others together.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BETWEEN_TEXTS, type StoredText, singleText, splitTexts } from '../src/joined-texts.ts'
import { SCALE } from './parts/scale.ts'

function join(texts: readonly (string | Buffer)[]): Buffer {
  const between = Buffer.from(BETWEEN_TEXTS)
  const parts = texts.flatMap((text, at) => [...(at === 0 ? [] : [between]), Buffer.from(text as string)])
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')])
}

function split(texts: readonly (string | Buffer)[], together = true): readonly StoredText[] {
  const lengths = texts.map((text) => Buffer.from(text as string).length)
  return splitTexts(join(texts), lengths, together) ?? []
}

function jsonOf(text: StoredText): unknown {
  try {
    return JSON.stringify(text.value())
  } catch (error) {
    return (error as Error).name
  }
}

const character = fc.constantFrom('a', '"', '\\', '\u0000', '\ufeff', 'é', 'ÿ', '\u2028', '你', '👋', '\ud83d', '\n')
const value = fc.oneof(fc.jsonValue(), fc.string({ unit: character }), fc.constantFrom(null, [], {}, 0, -1.5e300))

describe('the texts of several rows', () => {
  it('say what each says by itself, parsed together or not', () => {
    const any = fc.array(value, { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(any, fc.boolean(), (values, together) => {
        const expected = values.map((each) => JSON.stringify(each))
        const texts = split(expected, together)
        expect(texts.map((text) => text.isUtf8())).toEqual(values.map(() => true))
        expect(texts.map(({ bytes }) => bytes.toString('utf8'))).toEqual(expected)
        expect(texts.map(jsonOf)).toEqual(expected)
        expect(expected.map((text) => jsonOf(singleText(Buffer.from(text))))).toEqual(expected)
      }),
      { numRuns: 500 * SCALE },
    )
  })

  it('of any length do, also beyond what is turned at once', () => {
    for (const length of [1000, 40_000, 1_100_000]) {
      for (const unit of ['a', 'é', '你', '👋']) {
        const text = JSON.stringify(unit.repeat(length))
        expect(singleText(Buffer.from(text)).value() === JSON.parse(text)).toBe(true)
        const value = split(['1', text])[1]?.value()
        expect(value === JSON.parse(text)).toBe(true)
      }
    }
  })

  it.each([
    [['[1', '2]', '3,4']],
    [['"a', 'b"', '1,2']],
    [['{"a":1', '"b":2}', '1,2']],
    [['', '1,2', '3']],
    [['1,2', '', '3']],
    [['1]', '[2', '3']],
    [['\ufeff1', '2', '3']],
    [['1\u0000', '2', '3']],
    [['1.', '2', '3']],
    [['[', ']', '1,[]']],
  ])('%j are each told apart from what they would be together', (texts) => {
    const alone = texts.map((text) => jsonOf(singleText(Buffer.from(text))))
    expect(alone).toContain('SyntaxError')
    expect(split(texts).map(jsonOf)).toEqual(alone)
  })

  it('that hold what JSON has between values are no others for it', () => {
    const texts = ['[1 , 2]', ' 3 ', '\n{"a" : "],["}\t']
    expect(split(texts).map(jsonOf)).toEqual(['[1,2]', '3', '{"a":"],["}'])
  })

  it('are none when their lengths do not add up', () => {
    const joined = join(['1', '23', '4'])
    expect(splitTexts(joined, [1, 2, 1], true)).toHaveLength(3)
    for (const lengths of [[1, 2], [1, 2, 2], [1, 2, 1, 1], [0, 0, 0], []]) {
      expect(splitTexts(joined, lengths, true)).toBeUndefined()
    }
  })

  it.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0xbd, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['a character cut short', [0x22, 0xf0, 0x9f, 0x91]],
  ])('with %s are not UTF-8', (_, bytes) => {
    expect(singleText(Buffer.from(bytes)).isUtf8()).toBe(false)
    expect(split(['1', Buffer.from(bytes), '2']).map((text) => text.isUtf8())).toContain(false)
  })
})
