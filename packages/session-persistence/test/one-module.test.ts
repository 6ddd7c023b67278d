// Proves that whoever imports a library opens one file of it.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const LIBRARIES = ['core', 'file-log', 'jsonl', 'jsonl-zstd', 'sqlite', 'interchange', 'session-persistence']

it.each(LIBRARIES)('%s is one module, with a map that leads into its source', (name) => {
  const dist = new URL(`../../${name}/dist/`, import.meta.url)
  const built = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  expect(built.filter((file) => file.endsWith('.js'))).toEqual(['index.js'])
  const { sources } = JSON.parse(readFileSync(new URL('index.js.map', dist), 'utf8')) as { readonly sources: string[] }
  expect(sources.filter((source) => source.startsWith('../src/')).length).toBeGreaterThan(1)
  expect(sources.filter((source) => !source.startsWith('../src/') && !source.includes('@oxc-project'))).toEqual([])
})
