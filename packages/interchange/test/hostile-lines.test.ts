// Proves that damaged and hostile lines lose nothing: whole records around them are read, their own text is kept and
// reported with line and offset, and what is stored is lossless JSON.
import { describe, expect, it } from 'vitest'
import { dshLog, ofType, readOne, useSourceFiles } from './source-files.ts'

const file = useSourceFiles()

const prompt = (text: string): string =>
  `{"type":"user/message","seq":2,"time":1003,"data":{"content":[{"type":"text","text":${text}}],"role":"user","id":"m2"},"surfaceOp":"append"}`
const NOTE = '{"type":"plan/mode","seq":2,"time":1003,"data":{"active":true}}'

describe('content of records', () => {
  it.each([
    ['a lone surrogate', '"a\\ud800b"', 'a\ud800b'],
    ['U+0000', '"a\\u0000b"', 'a\u0000b'],
    ['raw U+2028, U+2029 and U+0085', '"a\u2028b\u2029c\u0085d"', 'a\u2028b\u2029c\u0085d'],
    ['text that looks like two records', '"}{\\"type\\":\\"turn/end\\"}"', '}{"type":"turn/end"}'],
  ])('%s survives exactly', async (_, json, text) => {
    const { fold, report } = await readOne(await file(dshLog([prompt(json)])))
    expect(fold.messages()[1]).toMatchObject({ content: [{ type: 'text', text }] })
    expect(report.damagedCount).toBe(0)
  })

  it('keeps own __proto__ keys as data and pollutes nothing', async () => {
    const line =
      '{"type":"user/message","seq":2,"time":1003,"__proto__":{"polluted":1},"data":{"role":"user","content":[],"__proto__":{"polluted":2}},"surfaceOp":"append"}'
    const { events } = await readOne(await file(dshLog([line, '{"type":"x/y","seq":3,"__proto__":{"polluted":3}}'])))
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const text = JSON.stringify(events)
    for (const value of [1, 2, 3]) expect(text).toContain(`"__proto__":{"polluted":${value}}`)
  })

  it.each([
    ['an integer past 2^53', '9007199254740993'],
    ['-0', '-0'],
    ['a number out of range', '1e999'],
    ['more digits than a double has', '0.10000000000000000001'],
  ])('%s is reported, and the text of its line is kept', async (_, number) => {
    const line = `{"type":"plan/mode","seq":2,"time":1003,"data":{"n":${number}}}`
    const { events, report } = await readOne(await file(dshLog([line])))
    expect(report.damaged).toMatchObject([{ line: 4, reason: 'inexact-number', outcome: 'mapped' }])
    expect(ofType(events, 'interchange/damaged')).toMatchObject([{ data: { text: line, line: 4 }, ignorable: true }])
    expect(ofType(events, 'dsh/plan-mode')).toHaveLength(1)
  })

  it.each(['12.0', '1.5e3', '9007199254740992', '2.467875000000049', '"9007199254740993"', '1e-7'])(
    'the number %s is exact',
    async (number) => {
      const { report } = await readOne(
        await file(dshLog([`{"type":"plan/mode","seq":2,"time":1003,"data":{"n":${number}}}`])),
      )
      expect(report.damagedCount).toBe(0)
    },
  )

  it('reads a line of 2 MB', async () => {
    const text = 'x'.repeat(2 * 1024 * 1024)
    const { fold } = await readOne(await file(dshLog([prompt(JSON.stringify(text))])))
    expect(fold.messages()[1]).toMatchObject({ content: [{ text }] })
  })

  it('keeps the text of a record that is nested too deeply for an event', async () => {
    const line = `{"type":"plan/mode","seq":2,"time":1003,"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const { events, report } = await readOne(await file(dshLog([line])))
    expect(report.damaged).toMatchObject([{ reason: 'too-deep', outcome: 'raw' }])
    expect(ofType(events, 'interchange/damaged')).toMatchObject([{ data: { text: line } }])
  })

  it('reads a record at the bound of depth, as deep as an import takes it', async () => {
    const nested = (depth: number): string =>
      `{"type":"user/message","seq":2,"time":1003,"data":{"role":"user","content":[],"x":${'['.repeat(depth)}${']'.repeat(depth)}},"surfaceOp":"append"}`
    const { report, fold } = await readOne(await file(dshLog([nested(506), nested(507)])))
    expect(report.damaged.map(({ line, reason }) => `${line} ${reason}`)).toEqual(['5 too-deep'])
    expect(fold.messages()).toHaveLength(2)
  })

  it('keeps a long text in parts that fit an event however they are escaped', async () => {
    const line = '\u0001'.repeat(9 * 1024 * 1024)
    const { events } = await readOne(await file(dshLog([line])))
    const parts = ofType(events, 'interchange/damaged').map(({ data }) => data as { text: string; part: number })
    expect(parts.map(({ part }) => part)).toEqual([0, 1, 2])
    expect(parts.map(({ text }) => text).join('')).toBe(line)
  })

  it('keeps a packed row of more deltas than memory should hold', async () => {
    const row = (count: number): string =>
      `{"type":"text-chunks","seq0":3,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[${'0,'.repeat(count - 2)}0],"texts":[${'"",'.repeat(count - 1)}""]}}`
    const step = '{"type":"step/start","seq":2,"time":1003,"data":{"turn":1,"step":1}}'
    const { events, report } = await readOne(
      await file(dshLog([step, row(65_537), '{"type":"step/end","seq":65540,"data":{"turn":1,"step":1}}'])),
    )
    expect(ofType(events, 'dsh/text-chunks')).toHaveLength(1)
    expect(report.seqGapCount).toBe(0)
  })

  it('keeps a line over the bound in pieces that put together give it back', async () => {
    const line = Buffer.alloc(31 * 1024 * 1024, 'é')
    const { events, report, fold } = await readOne(await file(dshLog([line, prompt('"after"')])))
    const pieces = ofType(events, 'interchange/damaged').map(({ data }) => {
      const { text, encoding } = data as { text: string; encoding: BufferEncoding }
      return Buffer.from(text, encoding)
    })
    expect(Buffer.concat(pieces).equals(line)).toBe(true)
    expect(report.damaged).toEqual([{ line: 4, offset: dshLog().length, reason: 'too-long', outcome: 'raw' }])
    expect(fold.messages()).toHaveLength(2)
  })
})

describe('bytes around records', () => {
  it('tolerates a byte order mark, CRLF and a missing final newline, and says so', async () => {
    const text = dshLog([NOTE]).toString().trimEnd().replaceAll('\n', '\r\n')
    const { report, events } = await readOne(await file(Buffer.from(`\ufeff${text}`)))
    expect(report.tolerated).toEqual({ byteOrderMark: true, crlf: 3, noFinalNewline: true })
    expect(report.damagedCount).toBe(0)
    expect(events).toHaveLength(3)
  })

  it('reads the record behind a run of NULs, and keeps a line of nothing but NULs as its length', async () => {
    const nuls = '\0'.repeat(4096)
    const { report, events } = await readOne(await file(dshLog([`${nuls}${NOTE}`, nuls])))
    expect(report.damaged.map(({ reason, outcome }) => `${reason} ${outcome}`)).toEqual([
      'nul-run mapped',
      'nul-run raw',
    ])
    expect(ofType(events, 'dsh/plan-mode')).toHaveLength(1)
    expect(ofType(events, 'interchange/damaged')).toMatchObject([
      { data: { bytes: 4096, text: '', reason: 'nul-run' } },
    ])
  })

  it('reads a record with bytes that are not UTF-8, and keeps them', async () => {
    const line = Buffer.from(prompt('"a__b"'))
    line.set([0xff, 0xfe], line.indexOf('__'))
    const { report, events, fold } = await readOne(await file(dshLog([line])))
    expect(report.damaged).toMatchObject([{ reason: 'invalid-utf8', outcome: 'mapped' }])
    expect(JSON.stringify(fold.messages()[1])).toContain('\ufffd\ufffd')
    const [kept] = ofType(events, 'interchange/damaged')
    expect(kept).toMatchObject({ data: { encoding: 'base64', text: line.toString('base64') } })
  })

  it('takes glued records apart', async () => {
    const { report, fold } = await readOne(await file(dshLog([`${prompt('"two } { \\" "')}${NOTE}  ${NOTE}`])))
    expect(report.damaged).toMatchObject([{ line: 4, reason: 'glued-records', outcome: 'mapped' }])
    expect(report).toMatchObject({ lines: 4, records: 6 })
    expect(fold.messages()).toHaveLength(2)
  })

  it('reads the record behind a stub, and keeps the stub', async () => {
    const stub = prompt('"cut off').slice(0, -60)
    const { report, events, fold } = await readOne(await file(dshLog([`${stub}${prompt('"whole"')}`])))
    expect(report.damaged).toMatchObject([{ reason: 'torn-record', outcome: 'mapped' }])
    expect(ofType(events, 'interchange/damaged')).toMatchObject([{ data: { text: stub } }])
    expect(fold.messages()[1]).toMatchObject({ content: [{ text: 'whole' }] })
  })

  it.each([
    ['text', 'no JSON at all', 'not-json'],
    ['a cut-off last line', '{"type":"user/message","seq":2,"ti', 'not-json'],
    ['an array', '[1,2]', 'not-an-object'],
    ['a number', '12', 'not-an-object'],
    ['a control character inside a string', '{"type":"a/b","data":"\u0001"}', 'not-json'],
  ])('keeps %s as text, and goes on', async (_, line, reason) => {
    const { report, events, fold } = await readOne(await file(dshLog([line, prompt('"after"')])))
    expect(report.damaged).toEqual([{ line: 4, offset: dshLog().length, reason, outcome: 'raw' }])
    expect(ofType(events, 'interchange/damaged')).toMatchObject([{ data: { text: line, offset: dshLog().length } }])
    expect(fold.messages()).toHaveLength(2)
  })
})
