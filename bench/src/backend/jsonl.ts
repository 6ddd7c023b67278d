/** Plain JSON lines, as they come out of the box. */
import type { BenchBackend } from './bench-backend.ts'
import { builtModule } from './built-module.ts'
import { lineBackend } from './line-backend.ts'

export const harness: BenchBackend = lineBackend({ name: 'jsonl', pack: false, module: builtModule('jsonl') })
