// The in-memory backend for processes that run built code.

import { defineHarness } from '@session-persistence/conformance'
import { createMemoryMedium, openMemory } from '@session-persistence/core'

export const harness = defineHarness({
  name: 'memory',
  createMedium() {
    const medium = createMemoryMedium()
    return { open: (options = {}) => openMemory({ ...options, medium }) }
  },
})
