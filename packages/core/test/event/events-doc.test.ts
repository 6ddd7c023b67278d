// Proves that docs/events.md and the JSON Schemas of the package are those of the vocabulary table.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventsDocFiles } from '../../scripts/events-doc.mjs'
import * as core from '../../src/index.ts'

const root = new URL('../../../../', import.meta.url)
const files = eventsDocFiles(core)
const remedy = 'run `node packages/core/scripts/write-events-doc.mjs` after a build, then format'

describe('generated files', () => {
  it.each([...files.keys()])('%s is up to date', (path) => {
    const stored = readFileSync(new URL(path, root), 'utf8')
    // The formatter decides where schemas break lines.
    const normal = (text: string): string => (path.endsWith('.json') ? JSON.stringify(JSON.parse(text)) : text)
    expect(normal(stored), remedy).toBe(normal(files.get(path) ?? ''))
  })

  it('leave no schema of a type that is gone', () => {
    const stored = readdirSync(new URL('packages/core/schema/', root)).map((name) => `packages/core/schema/${name}`)
    expect(stored.sort()).toEqual([...files.keys()].filter((path) => path.endsWith('.json')).sort())
  })
})
