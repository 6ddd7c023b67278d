/** JSON lines with runs of deltas packed. */
import type { BenchBackend } from './bench-backend.ts'
import { builtModule } from './built-module.ts'
import { lineBackend } from './line-backend.ts'

export const harness: BenchBackend = lineBackend({
  name: 'jsonl-packed',
  pack: true,
  module: builtModule('jsonl-packed'),
})
