// The kit under node:test. Arguments: harness module, file for the report.
import { writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { describeConformance } from '@session-persistence/conformance'

const [module = '', file = ''] = [process.env.CONFORMANCE_HARNESS, process.env.CONFORMANCE_REPORT]
const { harness } = await import(module)
describeConformance(
  harness,
  { describe, it },
  { effort: 'quick', onReport: (report) => writeFileSync(file, JSON.stringify(report)) },
)
