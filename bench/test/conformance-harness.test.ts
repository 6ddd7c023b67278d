// Proves that every conformance harness can be measured: checked by the compiler, since the kit is not needed to measure.
import type { Harness } from '@session-persistence/conformance'
import { openMemory } from '@session-persistence/core'
import { expect, it } from 'vitest'
import type { BenchBackend } from '../src/index.ts'

it('is a backend of the bench as it is', async () => {
  const harness: Harness = { name: 'any', createMedium: () => ({ open: async (options) => openMemory(options) }) }
  const backend: BenchBackend = harness
  const medium = await backend.createMedium()
  expect((await medium.open()).description.capabilities.durability).toBe('memory')
})
