// Says plainly where the SQLite backend is not exercised: its driver needs a prebuilt binary or a compiler.
import { describe, expect, it } from 'vitest'
import { sqliteAvailability } from '../src/availability.ts'

const found = sqliteAvailability()

describe('the SQLite driver', () => {
  it.skipIf(!found.available)(
    found.available ? 'is here, so every test of this backend runs' : 'is not here: no test of this backend runs',
    () => {
      expect(found).toEqual({ available: true, sqliteVersion: expect.stringMatching(/^3\.\d+\.\d+$/) })
    },
  )
})
