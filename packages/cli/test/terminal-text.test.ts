// Proves that stored text cannot control a terminal, that tables align by display width, and that colours obey NO_COLOR.
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { displayWidth } from '../src/terminal/display-width.ts'
import { byteSize, count, milliseconds } from '../src/terminal/quantity.ts'
import { safeJson, safeLine, safeText } from '../src/terminal/safe-text.ts'
import { styleFor } from '../src/terminal/style.ts'
import { cutTo, tableLines, wrapLines } from '../src/terminal/table.ts'

describe('stored text', () => {
  it('is shown instead of sent wherever a terminal would act on it', () => {
    expect(safeText('\u001b]0;owned\u0007 \u001b[2J \u009b31m')).toBe('␛]0;owned␇ ␛[2J \\u009b31m')
    expect(safeText('a\rb\u0008c\u0000\u007f')).toBe('a␍b␈c␀␡')
    expect(safeText('evil\u202egnp.exe')).toBe('evil\\u202egnp.exe')
    expect(safeText('lone \ud800 half')).toBe('lone \\ud800 half')
  })

  it('keeps every other character, line feeds and tabs', () => {
    const text = 'Zürich 東京 👩‍💻\n\tcode\r\nnext'
    expect(safeText(text)).toBe('Zürich 東京 👩‍💻\n\tcode\nnext')
    expect(safeLine('  a\n b\t\tc ')).toBe('a b c')
  })

  it('is the same value as JSON, without a control character', () => {
    const value = { text: '\u001b[1m\u009b\u007f\u2028\u202e\ufeff ü 東', '\u0085': 1 }
    const json = safeJson(value)
    expect(JSON.parse(json)).toEqual(value)
    expect(json).toMatch(/^[ -~ü東]+$/)
  })
})

describe('the width of a text', () => {
  it.each(['', 'plain (text) 42', '“quoted…”', 'Zürich', '東京', '👩‍💻', 'e\u0301', '\u001b[1mbold\u001b[22m', 'a\tb'])(
    'is that of the library: %j',
    (text) => {
      expect(displayWidth(text)).toBe(stringWidth(text))
    },
  )

  it('is that of the library for each character that is counted', () => {
    for (let code = 0x20; code < 0x3000; code++) {
      const character = String.fromCodePoint(code)
      expect([code, displayWidth(character)]).toEqual([code, stringWidth(character)])
    }
  })
})

describe('tables', () => {
  it('align by display width and cut only the flexible column', () => {
    const columns = [{ title: 'ID' }, { title: 'N', align: 'right' as const }, { title: 'TITLE', flexible: true }]
    const rows = [
      ['a', '1', '東京東京東京東京東京'],
      ['bb', '22', 'short'],
    ]
    expect(tableLines(columns, rows)).toEqual(['ID   N  TITLE', 'a    1  東京東京東京東京東京', 'bb  22  short'])
    expect(tableLines(columns, rows, { width: 20 })).toEqual(['ID   N  TITLE', 'a    1  東京東京東…', 'bb  22  short'])
  })

  it('cut and wrap between characters', () => {
    expect(cutTo('abcdef', 6)).toBe('abcdef')
    expect(cutTo('abcdefg', 6)).toBe('abcde…')
    expect(wrapLines('one two three', 7)).toEqual(['one two', 'three'])
  })
})

describe('numbers', () => {
  it('read the same everywhere', () => {
    expect([count(0), count(999), count(1234567)]).toEqual(['0', '999', '1,234,567'])
    expect([byteSize(0), byteSize(999), byteSize(1000), byteSize(123456789)]).toEqual([
      '0 B',
      '999 B',
      '1.00 kB',
      '123 MB',
    ])
    expect([milliseconds(0.123), milliseconds(45.6), milliseconds(12_345)]).toEqual(['0.12 ms', '45.6 ms', '12.3 s'])
  })
})

describe('colours', () => {
  const bold = (isTerminal: boolean, env: NodeJS.ProcessEnv): string => styleFor(isTerminal, env).bold('x')
  it('are for terminals, unless the environment says otherwise', () => {
    expect(bold(true, {})).toBe('\u001b[1mx\u001b[22m')
    expect(bold(false, {})).toBe('x')
    expect(bold(true, { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe('x')
    expect(bold(true, { NO_COLOR: '' })).not.toBe('x')
    expect(bold(false, { FORCE_COLOR: '1' })).not.toBe('x')
    expect(bold(true, { FORCE_COLOR: '0' })).toBe('x')
    expect(bold(true, { TERM: 'dumb' })).toBe('x')
  })
})
