// Proves that a machine without a working better-sqlite3 is told so in a sentence, when it opens a database and not before.
import { createRequire } from 'node:module'
import { isSessionError } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { load } from '../src/driver.ts'
import { errorOf } from './parts/sample-log.ts'

function fake(version: string): unknown {
  return class {
    prepare(): unknown {
      return { raw: () => ({ all: () => [[version]] }) }
    }
    close(): void {}
  }
}

describe('a driver', () => {
  it.each([
    [
      'that is not installed',
      () => {
        throw Object.assign(new Error("Cannot find module 'better-sqlite3'"), { code: 'MODULE_NOT_FOUND' })
      },
    ],
    [
      'whose binary is missing',
      () =>
        class {
          constructor() {
            throw new Error('Could not locate the bindings file')
          }
        },
    ],
  ])('%s is NOT_SUPPORTED, with the cause', async (_, require) => {
    const error = await errorOf(() => load(require))
    expect(isSessionError(error, 'NOT_SUPPORTED')).toBe(true)
    expect((error as Error).message).toMatch(/SQLite backend is not available here.*better-sqlite3/)
    expect((error as Error).cause).toBeInstanceOf(Error)
  })

  it.each(['3.51.2', '3.50.9', '2.99.99'])('with SQLite %s is too old', async (version) => {
    expect(await errorOf(() => load(() => fake(version)))).toMatchObject({
      code: 'NOT_SUPPORTED',
      expected: '3.51.3',
      found: version,
    })
  })

  it.each(['3.51.3', '3.52.0', '4.0.0'])('with SQLite %s is taken', (version) => {
    expect(load(() => fake(version)).sqliteVersion).toBe(version)
  })

  it('that is installed here is taken', () => {
    expect(load(createRequire(import.meta.url)).sqliteVersion).toMatch(/^3\.\d+\.\d+$/)
  })
})
