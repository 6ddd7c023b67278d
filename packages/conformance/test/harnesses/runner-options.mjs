// What the runners of this directory are told: the harness, the options of the run, and where its report goes.
import { writeFileSync } from 'node:fs'

const { CONFORMANCE_HARNESS = '', CONFORMANCE_OPTIONS = '{}', CONFORMANCE_REPORT = '' } = process.env

/** @type {{ harness: import('@session-persistence/conformance').Harness }} */
export const { harness } = await import(CONFORMANCE_HARNESS)

/** @type {import('@session-persistence/conformance').RunOptions} */
export const options = JSON.parse(CONFORMANCE_OPTIONS)

/** @param {import('@session-persistence/conformance').ConformanceReport} report */
export function onReport(report) {
  writeFileSync(CONFORMANCE_REPORT, JSON.stringify(report))
}
