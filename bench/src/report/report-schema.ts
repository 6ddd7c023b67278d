/** What a report may hold, for the one that reads a file: form only, so that no renderer meets a value that it cannot show. */
import { z } from 'zod'
import type { BenchReport } from './report.ts'
import { ABSOLUTE_UNITS, UNITS } from './row.ts'

/** JSON has no NaN: a number that could not be had is written as null. */
const number = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN)

const estimate = z.looseObject({
  median: number,
  low: number,
  high: number,
  max: number,
  spread: number,
  samples: number,
})

const verdict = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('reached') }),
  z.looseObject({ kind: z.literal('missed'), by: number }),
  z.looseObject({ kind: z.literal('unclear'), why: z.enum(['noisy', 'close', 'few']) }),
  z.looseObject({ kind: z.literal('none') }),
])

const row = z.looseObject({
  id: z.string(),
  title: z.string(),
  backend: z.string(),
  role: z.enum(['backend', 'reference']),
  through: z.enum(['session', 'port', 'none']),
  unit: z.enum(UNITS),
  measured: estimate,
  goal: z.number().optional(),
  verdict,
  absolute: z.looseObject({ value: estimate, unit: z.enum(ABSOLUTE_UNITS) }).optional(),
  reference: estimate.optional(),
  note: z.string().optional(),
})

const machine = z.looseObject({
  node: z.string(),
  v8: z.string(),
  platform: z.string(),
  release: z.string(),
  cpu: z.string(),
  cpus: z.number(),
  memoryBytes: z.number(),
  load: z.number(),
  fileSystem: z.string().optional(),
  sync: z.looseObject({ syncMs: estimate, plausible: z.boolean() }),
})

const backend = z.looseObject({
  name: z.string(),
  column: z.enum(['jsonl', 'jsonl-zstd', 'sqlite']).optional(),
  packs: z.boolean().optional(),
  description: z.looseObject({
    capabilities: z.looseObject({ durability: z.enum(['memory', 'process', 'power']) }),
    modes: z.record(z.string(), z.string()),
  }),
})

/** What is not named here is kept: new optional fields do not raise the version. */
const report = z.looseObject({
  startedAt: z.string(),
  seconds: z.number(),
  scale: z.enum(['full', 'quick']),
  partial: z.boolean(),
  machine,
  backends: z.array(backend),
  unavailable: z.array(z.looseObject({ name: z.string(), reason: z.string() })),
  scenarios: z.array(
    z.looseObject({
      id: z.string(),
      description: z.string(),
      caution: z.string().optional(),
      seconds: z.number().optional(),
    }),
  ),
  rows: z.array(row),
  failures: z.array(
    z.looseObject({
      scenario: z.string(),
      backend: z.string().optional(),
      code: z.string().optional(),
      message: z.string(),
    }),
  ),
})

/** The report, or where it is not one. */
export function checkReport(value: object): BenchReport | string {
  const checked = report.safeParse(value)
  // Of a description only what is shown is looked at.
  if (checked.success) return checked.data as unknown as BenchReport
  const [issue] = checked.error.issues
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`
}
