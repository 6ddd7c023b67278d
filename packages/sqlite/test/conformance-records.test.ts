// A store that gives the kit records and no file, as a remote one does, is held to every clause about damage; what is
// about files is skipped, and says so.
import { runConformance } from '@session-persistence/conformance'
import { expect, it } from 'vitest'
import { harness } from './conformance-harness.mjs'

it('has its medium tier by records alone', async () => {
  const withoutFiles = {
    name: 'sqlite, records only',
    createMedium: async () => {
      const { open, records, stampVersion, destroy } = await harness.createMedium()
      return {
        open,
        ...(records === undefined ? {} : { records }),
        ...(stampVersion === undefined ? {} : { stampVersion }),
        ...(destroy === undefined ? {} : { destroy }),
      }
    },
  }
  const report = await runConformance(withoutFiles, { tiers: ['medium'], effort: 'quick' })
  expect(report.results.filter(({ status }) => status === 'failed')).toEqual([])
  const passed = report.results.filter(({ status }) => status === 'passed').map(({ id }) => id)
  expect(passed).toEqual([
    'DURABLE-11',
    'CONC-10',
    ...[2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16].map((number) => `CORRUPT-${number}`),
    'VERSION-2',
    'CAP-6',
  ])
  const reasons = new Set(report.results.filter(({ status }) => status === 'skipped').map(({ message }) => message))
  expect([...reasons].sort()).toEqual([
    'tearing a batch of this medium takes `module`, `openAt`, `location` and `files`',
    'the medium has no `files`',
  ])
})
