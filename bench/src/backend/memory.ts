/** Sessions in this process only: what everything above the port costs. */
import { createMemoryMedium, memoryStorage, openMemory } from 'session-persistence'
import type { BenchBackend } from './bench-backend.ts'

export const harness: BenchBackend = {
  name: 'memory',
  createMedium() {
    const medium = createMemoryMedium()
    return {
      open: (given) => openMemory({ ...given, medium }),
      storage: () => memoryStorage(medium),
    }
  },
}
