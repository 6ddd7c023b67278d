// JUnit, HTML and the badge tell what the report tells, whatever text a backend brings, and load nothing.
import { describe, expect, it } from 'vitest'
import { badge } from '../src/report/badge.ts'
import { type CaseResult, summarize } from '../src/report/conformance-report.ts'
import { htmlReport } from '../src/report/html-report.ts'
import { junitReport } from '../src/report/junit-report.ts'

const HOSTILE = 'a </script><b> & "quoted" \u0000\u001b[31m \ud800 ]]>'

function result(id: string, parts: Partial<CaseResult>): CaseResult {
  const family = id.startsWith('READ') ? 'READ' : 'LIST'
  const { level = 'MUST', tier = 'logic', title = `the clause ${id}`, status = 'passed', durationMs = 1 } = parts
  return { ...parts, id, level, family, tier, title, status, durationMs }
}

const results: readonly CaseResult[] = [
  result('READ-1', {}),
  result('READ-2', {
    status: 'failed',
    message: HOSTILE,
    failure: {
      message: HOSTILE,
      window: [`- [0] ${HOSTILE}`],
      history: [`p1.create(${HOSTILE})`],
      usualCause: HOSTILE,
      repeat: `npx --id READ-2 ${HOSTILE}`,
    },
  }),
  result('READ-3', { status: 'skipped', message: `not here: ${HOSTILE}` }),
  result('LIST-1', { status: 'known-failure', message: 'wrong', knownFailure: 'https://example.org/?a=1&b="2"' }),
  result('LIST-2', { tier: 'process', status: 'known-failure', message: 'wrong', knownFailure: 'javascript:alert(1)' }),
]

function reportOf(harnessError?: string, of: readonly CaseResult[] = results) {
  return summarize({
    harness: HOSTILE,
    backend: {
      name: HOSTILE,
      version: '1',
      capabilities: { durability: 'power', exclusion: 'host', integrity: 'checksum', follow: 'host', repair: 'none' },
      modes: { sync: 'full', [HOSTILE]: HOSTILE },
    },
    seed: 1,
    effort: 'full',
    harnessError,
    results: of,
    tierReasons: new Map([['medium', HOSTILE]]),
  })
}

/** Every start tag has its end, in order, and nothing stands where markup may not. */
function expectWellFormed(xml: string): void {
  const open: string[] = []
  const body = xml.replace(/^<\?xml [^>]*\?>\n/, '')
  expect(body).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u)
  expect(body.replace(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&')
  for (const [tag, end, name, rest] of body.matchAll(/<(\/?)([A-Za-z][\w-]*)((?:\s+[\w-]+="[^"<]*")*\s*\/?)>/g)) {
    if (end === '/') expect(open.pop(), tag).toBe(name)
    else if (rest?.endsWith('/') !== true) open.push(name ?? '')
  }
  expect(body.replace(/<\/?[A-Za-z][\w-]*(?:\s+[\w-]+="[^"<]*")*\s*\/?>/g, '')).not.toContain('<')
  expect(open).toEqual([])
}

describe('a clause that does not apply', () => {
  const report = reportOf(undefined, [
    result('READ-1', {}),
    result('LIST-9', { status: 'not-applicable', message: "says nothing of repair 'none'; `LIST-1` does" }),
  ])

  it('is no test case of JUnit, which has no word for it', () => {
    expect(junitReport(report)).toContain('tests="1" failures="0" errors="0" skipped="0"')
  })

  it('stands on the page with its reason and a count of its own', () => {
    const page = htmlReport(report)
    expectWellFormed(
      page
        .replace('<!doctype html>', '')
        .replace(/<meta [^>]*>/g, '')
        .replace(/<br>/g, ''),
    )
    expect(page).toContain('<li><b>1</b> do not apply</li>')
    expect(page).toContain(
      '<span class="not-applicable">1 does not apply</span>: says nothing of repair &#39;none&#39;; <code>LIST-1</code> does.',
    )
    expect(page).toContain('LIST: 0 of 0 passed, <span class="not-applicable">1 \u00b7 does not apply</span>')
  })
})

describe('the JUnit report', () => {
  it('is well-formed, and counts what the report counts', () => {
    const xml = junitReport(reportOf())
    expectWellFormed(xml)
    expect(xml).toContain('tests="5" failures="1" errors="0" skipped="3"')
    expect(xml).toContain('<testsuite name="READ" tests="3" failures="1" errors="0" skipped="1"')
    expect(xml).toContain('<testsuite name="LIST" tests="2" failures="0" errors="0" skipped="2"')
    expect(xml.match(/<testcase /g)).toHaveLength(5)
  })

  it('turns a harness error, and a run in which nothing ran, into an error', () => {
    for (const [report, sentence] of [
      [reportOf('createMedium threw', []), 'createMedium threw'],
      [reportOf(undefined, []), 'Not one MUST clause ran.'],
    ] as const) {
      const xml = junitReport(report)
      expectWellFormed(xml)
      expect(xml).toContain('errors="1"')
      expect(xml).toContain(`<error message="${sentence}"/>`)
    }
  })
})

describe('the HTML report', () => {
  const page = htmlReport(reportOf('a sentence'))

  it('is one page that loads nothing, runs nothing and takes no markup from a backend', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(page).not.toMatch(/<script|<link|<img|\ssrc=|@import|url\(|\son\w+=/i)
    expect(page).not.toContain('<b> &')
    expect(page).toContain('a &lt;/script&gt;&lt;b&gt; &amp; &quot;quoted&quot;')
    expect(page).not.toContain('href="javascript:')
    expect(page).toContain('<a href="https://example.org/?a=1&amp;b=&quot;2&quot;">')
  })

  it('closes every element that it opens', () => {
    const markup = page.replace('<!doctype html>\n', '').replace(/<style>[\s\S]*<\/style>/, '')
    expectWellFormed(markup.replace(/<(meta [^>]*|br)>/g, ''))
  })

  it('follows the light or dark preference, and tells each status in words', () => {
    expect(page).toContain('color-scheme: light dark')
    expect(page).toContain('@media (prefers-color-scheme: dark)')
    const text = page.replace(/<style>[\s\S]*<\/style>/, '').replace(/<[^>]+>/g, ' ')
    for (const word of ['passed', 'FAILED', 'skipped', 'known failure', 'not exercised', 'usual cause', 'a sentence']) {
      expect(text).toContain(word)
    }
    expect(text).toMatch(/Effective mode .*sync\s+full/s)
  })
})

describe('the badge', () => {
  it.each([
    [reportOf('x'), 'no verdict'],
    [reportOf(undefined, []), 'nothing ran'],
    [reportOf(), 'failing'],
    [reportOf(undefined, [result('READ-1', {})]), 'core'],
    [reportOf(undefined, [result('READ-1', {}), result('READ-2', { tier: 'process' })]), 'crash'],
    [
      reportOf(undefined, [
        result('READ-1', {}),
        result('READ-2', { tier: 'process' }),
        result('READ-3', { tier: 'medium' }),
      ]),
      'medium',
    ],
    [reportOf(undefined, [result('READ-1', {}), result('READ-3', { tier: 'medium' })]), 'core'],
  ])('names what was reached: %#', (report, text) => {
    const svg = badge(report)
    expectWellFormed(svg)
    expect(svg).toContain(`aria-label="session-persistence: ${text}"`)
  })
})
