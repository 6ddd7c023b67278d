// Proves that minutes of measuring are not spent on a report that could not be written, and that looking writes nothing.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MARK_BEGIN, MARK_END } from '../src/report/markdown-report.ts'
import { checkReportFiles, type ReportFiles } from '../src/report/write-reports.ts'

let directory = ''
const at = (name: string): string => join(directory, name)

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'report-files-'))
  mkdirSync(at('there'))
  writeFileSync(at('old.json'), '{}')
  writeFileSync(at('plain.md'), 'no marks')
  writeFileSync(at('marked.md'), `${MARK_BEGIN}\n${MARK_END}`)
  symlinkSync(at('loop'), at('loop'))
})

afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

const UNWRITABLE: readonly [what: string, files: () => ReportFiles, why: string][] = [
  ['JSON in no directory', () => ({ json: at('nowhere/x.json') }), 'ENOENT'],
  ['JSON below a file', () => ({ json: at('old.json/x.json') }), 'ENOTDIR'],
  ['JSON in the place of a directory', () => ({ json: at('there') }), 'is a directory'],
  ['a page in no directory', () => ({ html: at('nowhere/x.html') }), 'ENOENT'],
  ['a page at a link to itself', () => ({ html: at('loop') }), 'ELOOP'],
  ['a document that is not there', () => ({ markdown: at('nothing.md') }), 'ENOENT'],
  ['a document without marks', () => ({ markdown: at('plain.md') }), 'lacks the marks'],
  ['charts in the place of a file', () => ({ svg: at('old.json') }), 'is no directory'],
]

it.each(UNWRITABLE)('refuses %s', async (_, files, why) => {
  const before = readdirSync(directory)
  await expect(checkReportFiles(files())).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining(why) as string,
  })
  expect(readdirSync(directory)).toEqual(before)
})

it('takes new and old files, and a directory that is made when it is needed', async () => {
  const before = readdirSync(directory)
  await checkReportFiles({ json: at('new.json'), html: at('old.json'), svg: at('a/b'), markdown: at('marked.md') })
  await checkReportFiles({ svg: at('there') })
  await checkReportFiles({})
  expect(readdirSync(directory)).toEqual(before)
})
