// Proves that no record of a real log is dropped: every string and every number of the source stands in the imported
// events, whether it was mapped or kept.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readLogs } from '../../src/index.ts'
import { corpusFiles, corpusName, hasCorpus } from './corpus-files.ts'

function collect(value: unknown, into: Set<string>): void {
  if (typeof value === 'string' || typeof value === 'number') into.add(String(value))
  else if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) collect(child, into)
}

/** What an event says in another form: times as numbers, seqs renumbered, deltas unpacked, record types by their event. */
const REPHRASED = new Set([
  'type',
  'seq',
  'time',
  'seq0',
  'time0',
  'dt',
  'surfaceOp',
  'sourceEventSeqs',
  'messageSeqs',
  'turn',
  'step',
  'timestamp',
])
/** Words that an event says with one of core's. */
const REWORDED = new Set(['subagent'])

function source(value: unknown, into: Set<string>): void {
  if (typeof value === 'string' || typeof value === 'number') into.add(String(value))
  else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) if (!REPHRASED.has(key)) source(child, into)
  }
}

const files = [...corpusFiles('dsh'), ...corpusFiles('claude-code')]

describe.skipIf(!hasCorpus)('values of real logs (skipped when the corpus is not beside the checkout)', () => {
  it.each(files.map((path) => [corpusName(path), path]))('%s', async (_, path) => {
    const expected = new Set<string>()
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      for (const part of line.replaceAll('}{"type":"summary"', '}\n{"type":"summary"').split('\n')) {
        if (part.startsWith('{')) source(JSON.parse(part), expected)
        else if (part !== '') expected.add(part)
      }
    }
    const found = new Set<string>()
    for await (const { header, events } of readLogs(path)) {
      collect(header, found)
      for await (const page of events) collect(page, found)
    }
    expect([...expected].filter((value) => !found.has(value) && !REWORDED.has(value))).toEqual([])
  })
})
