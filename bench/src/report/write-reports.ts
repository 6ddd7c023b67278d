import type { Stats } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { isSessionError, SessionError } from 'session-persistence'
import { groupChart } from './chart.ts'
import { htmlReport } from './html-report.ts'
import { marksOf, withResults } from './markdown-report.ts'
import type { BenchReport } from './report.ts'
import { groupsOf } from './row-groups.ts'

/** Where a report goes; nothing is written for what is undefined. */
export interface ReportFiles {
  readonly json?: string | undefined
  readonly html?: string | undefined
  /** A directory: one file a chart, named by the id of its rows. */
  readonly svg?: string | undefined
  /** A document with marks. */
  readonly markdown?: string | undefined
}

/**
 * For the moment before minutes of measuring: INVALID_ARGUMENT where the report could not be written, or its document lacks the
 * marks. Writes nothing.
 */
export async function checkReportFiles({ json, html, svg, markdown }: ReportFiles): Promise<void> {
  for (const file of [json, html]) {
    if (file !== undefined) await refusing(file, () => requireFilePlace(file))
  }
  if (markdown !== undefined) await refusing(markdown, async () => void marksOf(await fs.readFile(markdown, 'utf8')))
  if (svg !== undefined) await refusing(svg, () => requireDirectoryPlace(svg))
}

async function refusing(place: string, look: () => Promise<void>): Promise<void> {
  try {
    await look()
  } catch (cause) {
    if (isSessionError(cause)) throw cause
    const message = `the report cannot be written: ${(cause as Error).message}`
    throw new SessionError('INVALID_ARGUMENT', message, { path: place, cause })
  }
}

async function requireFilePlace(file: string): Promise<void> {
  const there = await statOf(file)
  if (there?.isDirectory()) throw new Error(`${file} is a directory`)
  await fs.access(there === undefined ? path.dirname(path.resolve(file)) : file, fs.constants.W_OK)
}

async function requireDirectoryPlace(directory: string): Promise<void> {
  const there = await statOf(directory)
  if (there?.isDirectory() === false) throw new Error(`${directory} is no directory`)
  if (there !== undefined) await fs.access(directory, fs.constants.W_OK)
}

async function statOf(place: string): Promise<Stats | undefined> {
  try {
    return await fs.stat(place)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function writeReports(report: BenchReport, { json, html, svg, markdown }: ReportFiles): Promise<void> {
  if (json !== undefined) await fs.writeFile(json, `${JSON.stringify(report, null, 2)}\n`)
  if (html !== undefined) await fs.writeFile(html, htmlReport(report))
  if (markdown !== undefined) await fs.writeFile(markdown, withResults(await fs.readFile(markdown, 'utf8'), report))
  if (svg === undefined) return
  await fs.mkdir(svg, { recursive: true })
  for (const rows of groupsOf(report.rows)) {
    const name = `${(rows[0]?.id ?? '').replaceAll('/', '-')}.svg`
    await fs.writeFile(path.join(svg, name), `${groupChart(rows, true)}\n`)
  }
}
