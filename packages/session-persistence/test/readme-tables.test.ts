// Proves that the tables of the documentation say what the code says: every event type with its fields, every error code,
// every limit with its value, and every backend.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BACKENDS, coreVocabulary, LIMITS, SESSION_ERROR_CODES } from '../src/index.ts'

const page = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const readme = page('README.md')

/** Rows of the first table below a heading, as cells. */
function tableUnder(heading: string): string[][] {
  const section = readme.split(new RegExp(`^#+ ${heading}$`, 'm'))[1]?.split(/^#+ /m)[0] ?? ''
  const rows = section.split('\n').filter((line) => /^\| [^-]/.test(line))
  return rows.slice(1).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
const codeWords = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

describe('the README', () => {
  it('says how to open every backend', () => {
    const calls = tableUnder('Open and create').map(([call = '']) => /openPersistence\('([^']+)'/.exec(call)?.[1])
    expect(calls.filter((location) => location !== undefined)).toEqual(
      BACKENDS.map(({ scheme, place }) => `${scheme}:${place}`),
    )
  })

  it('lists every error code once, in the order of the code', () => {
    expect(tableUnder('Errors').map(([code = '']) => codeWords(code))).toEqual(
      Object.keys(SESSION_ERROR_CODES).map((code) => [code]),
    )
  })

  it('lists every limit with its value', () => {
    const stated = tableUnder('Limits').map(([name = '', value = '']) => [
      codeWords(name)[0],
      Number(value.replaceAll(',', '')),
    ])
    expect(Object.fromEntries(stated)).toEqual(LIMITS)
  })

  it('lists every core event type once, with all of its fields', () => {
    const rows = tableUnder('Append').filter(([types = '']) => types.startsWith('`'))
    const stated = rows.flatMap(([types = '', data = '']) =>
      codeWords(types).map((type) => ({ type, words: codeWords(data) })),
    )
    expect(stated.map(({ type }) => type).sort()).toEqual(Object.keys(coreVocabulary).sort())
    for (const [type, { fields, variants = [] }] of Object.entries(coreVocabulary)) {
      const words = new Set(stated.find((row) => row.type === type)?.words)
      for (const { name, required } of fields) {
        expect(words, `${type}.${name}`).toContain(required ? name : `${name}?`)
      }
      for (const { name, required } of variants.flatMap((variant) => variant.fields)) {
        expect(words.has(name) || (!required && words.has(`${name}?`)), `${type}.${name}`).toBe(true)
      }
    }
  })
})

describe('the page for choosing a backend', () => {
  it('has every backend in every table of all of them, and figures for each', () => {
    const choosing = page('docs/choosing.md')
    const all = BACKENDS.map(({ scheme }) => `\`${scheme}\``)
    for (const [heading, end] of [
      ['## What each is for', '##'],
      ['## What each guarantees', '##'],
      ['<!-- figures: ', '<!-- end of figures -->'],
    ] as const) {
      const section = choosing.split(heading)[1]?.split(`\n${end}`)[0] ?? ''
      const rows = section.split('\n').filter((line) => line.startsWith('|'))
      const cells = rows.map((row) => row.split(/(?<!\\)\|/).slice(1, -1))
      const columns = cells[0]?.slice(1).map((cell) => cell.trim()) ?? []
      // Figures are given for an option of a backend too.
      expect(
        columns.filter((name) => name !== '`jsonl-packed`'),
        heading,
      ).toEqual(all)
      expect(cells.length).toBeGreaterThan(2)
      for (const row of cells) expect(row, heading).toHaveLength(columns.length + 1)
    }
  })
})
