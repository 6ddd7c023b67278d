import fs from 'node:fs/promises'
import path from 'node:path'
import { groupChart } from './chart.ts'
import { htmlReport } from './html-report.ts'
import { withResults } from './markdown-report.ts'
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
