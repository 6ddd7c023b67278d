import { createMemoryMedium, openMemory } from '@session-persistence/core'
import { defineHarness, type Harness } from '../src/harness.ts'

/** The in-memory backend: the logic tier only, since it has no files and does not leave its process. */
export const memoryHarness: Harness = defineHarness({
  name: 'memory',
  createMedium() {
    const medium = createMemoryMedium()
    return { open: (options = {}) => openMemory({ ...options, medium }) }
  },
})
