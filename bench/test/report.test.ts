// Proves that every form of a report says the same, that a page needs nothing else, and that nothing rests on colour.
import { memoryStorage } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { htmlReport } from '../src/report/html-report.ts'
import { MARK_BEGIN, MARK_END, withResults } from '../src/report/markdown-report.ts'
import { interval, quantity, threeDigits } from '../src/report/quantity.ts'
import { type BenchReport, readReport } from '../src/report/report.ts'
import { countedRow, plainRow, REFERENCES, ratioRow } from '../src/report/row.ts'
import { groupsOf } from '../src/report/row-groups.ts'
import { terminalReport } from '../src/report/terminal-report.ts'
import { estimate, exactly } from '../src/statistics/estimate.ts'

const jsonl = {
  name: 'jsonl',
  column: 'jsonl',
  createMedium: () => ({ open: () => Promise.reject(new Error()) }),
} as const
const nanForNull = (_: string, value: unknown): unknown => value ?? Number.NaN
const samples = [10, 11, 10, 12, 10, 11, 10]
const facts = { id: 'append/1', title: 'durable append <1 event> & more', through: 'session', unit: '× S' } as const

const report: BenchReport = {
  format: 'session-persistence-bench',
  version: 1,
  startedAt: '2030-01-02T03:04:05.000Z',
  seconds: 12,
  scale: 'quick',
  partial: false,
  machine: {
    node: 'v20.20.2',
    v8: '11',
    platform: 'linux x64',
    release: '6',
    cpu: 'Some CPU',
    cpus: 2,
    memoryBytes: 1e9,
    load: 0.5,
    fileSystem: 'ext4',
    sync: { syncMs: estimate([0.15]), plausible: true },
  },
  backends: [{ name: 'jsonl', column: 'jsonl', packs: false, description: memoryStorage().description }],
  unavailable: [{ name: 'sqlite', reason: 'no compiler' }],
  scenarios: [{ id: 'append', description: 'appends' }],
  rows: [
    ratioRow(
      { ...facts, backend: jsonl },
      samples,
      samples.map((ms) => ms / 1.2),
    ),
    ratioRow({ ...facts, backend: REFERENCES.S }, samples, samples),
    plainRow({ ...facts, id: 'suffix/50', title: 'last 50', unit: 'ms', backend: jsonl }, [3, 3, 3, 3, 3, 3]),
    countedRow({ ...facts, id: 'syncs/flush-1', title: 'syncs a flush', unit: 'syncs', backend: jsonl }, 1),
  ],
  failures: [],
}

describe('rows', () => {
  it('carry the goal and verdict of the backend, and none for a reference', () => {
    expect(report.rows.map(({ goal, verdict, role }) => [goal, verdict.kind, role])).toEqual([
      [1.35, 'reached', 'backend'],
      [undefined, 'none', 'reference'],
      [2, 'missed', 'backend'],
      [1, 'reached', 'backend'],
    ])
  })

  it('group by id in the order of their appearance', () => {
    const groups = groupsOf([...report.rows, ...report.rows])
    expect(groups.map((rows) => rows.length)).toEqual([4, 2, 2])
  })
})

describe('quantities', () => {
  it.each([
    [0, '0'],
    [0.00123, '0.0012'],
    [0.5, '0.5'],
    [1.239, '1.24'],
    [12.39, '12.4'],
    [123.9, '124'],
    [123_456, '123,456'],
  ])('%d in three digits is %s', (value, text) => {
    expect(threeDigits(value)).toBe(text)
  })

  it('have the unit of their row', () => {
    expect(quantity(0.0213, 'share')).toBe('2.13 %')
    expect(quantity(128e6, 'bytes')).toBe('128 MB')
    expect(interval(estimate([1, 2, 3, 4, 5, 6]), '× P')).toBe('3.50 P (1.00 to 6.00)')
  })
})

describe.each([
  ['terminal', terminalReport(report)],
  ['page', htmlReport(report)],
  ['document', withResults(`a\n${MARK_BEGIN}\nold\n${MARK_END}\nb`, report)],
])('the %s', (_form, text) => {
  it('says every median, goal and verdict in words', () => {
    for (const words of ['1.20 S', '≤ 1.35 S', 'reached', '3.00 ms', 'missed by 50.0 %', 'bare S']) {
      expect(text).toContain(words)
    }
  })
})

it('gives a terminal nothing that it would act on', () => {
  const evil = '\u001B[31m\u0007\u009B2J\u202E\nname'
  const text = terminalReport({
    ...report,
    machine: { ...report.machine, cpu: evil, fileSystem: evil },
    backends: report.backends.map((backend) => ({ ...backend, name: evil })),
    unavailable: [{ name: evil, reason: evil }],
    scenarios: [{ id: evil, description: evil, caution: evil }],
    rows: report.rows.map((row) => ({ ...row, backend: evil, title: evil, note: evil })),
    failures: [{ scenario: evil, backend: evil, code: evil, message: evil }],
  })
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{C}\u2028\u2029]/u)
  expect(text.split('\n').filter((line) => line.startsWith('name'))).toEqual([])
})

describe('the page', () => {
  const page = htmlReport(report)

  it('loads nothing and runs nothing', () => {
    expect(page).not.toMatch(/<script|<link|@import|url\(|src=|https?:(?!\/\/www\.w3\.org)/)
  })

  it('escapes what it shows', () => {
    expect(page).toContain('durable append &lt;1 event&gt; &amp; more')
    expect(page).not.toContain('<1 event>')
  })

  it('has bars for each group that was measured, with its numbers as a table, and a table for what was counted', () => {
    expect(page.match(/<details>/g)).toHaveLength(2)
    expect(page.match(/class="bars"/g)).toHaveLength(2)
  })

  it('shows every goal of the backend with its target, what was measured, and the verdict', () => {
    const goals = page.slice(page.indexOf('id="goals"'), page.indexOf('id="writing"'))
    expect(goals).toContain('✓ 1.20 S')
    expect(goals).toContain('✗ 3.00 ms')
    expect(goals).toContain('missed by 50.0 %')
    expect(goals).toContain('≤ 2.00 ms')
    // Promised, and not measured in this run.
    expect(goals).toContain('not measured')
  })

  it('says what was not measured', () => {
    expect(page).toContain('sqlite was not measured: no compiler')
    expect(htmlReport({ ...report, partial: true, failures: [{ scenario: 'list', message: 'EIO' }] })).toContain(
      'list failed: EIO',
    )
  })
})

describe('withResults', () => {
  it('replaces what stands between the marks and nothing else', () => {
    const once = withResults(`before\n${MARK_BEGIN}\nfigures of last year\n${MARK_END}\nafter`, report)
    expect(once).toMatch(/^before\n/)
    expect(once).toMatch(/\nafter$/)
    expect(once).not.toContain('figures of last year')
    expect(withResults(once, report)).toBe(once)
  })

  it('refuses a document without marks', () => {
    expect(() => withResults('no marks', report)).toThrow(/lacks the marks/)
  })
})

describe('readReport', () => {
  it('reads what was written', async () => {
    expect(await readReport(JSON.stringify(report))).toEqual(JSON.parse(JSON.stringify(report)))
  })

  it.each(['', '[]', '{"format":"else"}', 'null'])('refuses %j', async (text) => {
    await expect(readReport(text)).rejects.toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('keeps what a later program adds, and a number that could not be had', async () => {
    const [row] = report.rows
    const written = { ...report, rows: [{ ...row, measured: exactly(Number.NaN), later: 1 }], later: [2] }
    expect(await readReport(JSON.stringify(written))).toEqual(JSON.parse(JSON.stringify(written), nanForNull))
  })

  it.each([
    ['machine', null],
    ['machine', { ...report.machine, sync: { plausible: true } }],
    ['rows', 'many'],
    ['rows', [{ ...report.rows[0], measured: undefined }]],
    ['rows', [{ ...report.rows[0], unit: 'parsecs' }]],
    ['rows', [{ ...report.rows[0], verdict: { kind: 'missed', by: 'a lot' } }]],
    ['backends', [{ name: 'jsonl' }]],
    ['scenarios', [1]],
    ['failures', {}],
    ['startedAt', 3],
  ])('refuses a report that is damaged, and says where: %s', async (key, value) => {
    await expect(readReport(JSON.stringify({ ...report, [key]: value }))).rejects.toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`damaged: ${key}`) as string,
      }),
    )
  })

  it('refuses a newer form with both numbers', async () => {
    await expect(readReport(JSON.stringify({ ...report, version: 2 }))).rejects.toThrow(/version 2.* reads 1/)
  })
})
