/** JSON lines with runs of deltas packed. */
import fs from 'node:fs/promises'
import { type JsonlOptions, jsonlStorage, openJsonl } from 'session-persistence'
import type { BenchBackend } from './bench-backend.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const options = (root: string): JsonlOptions => ({ root, pack: true })

export const harness: BenchBackend = {
  name: 'jsonl-packed',
  column: 'jsonl',
  packs: true,
  module: import.meta.url,
  openAt: (root, given) => openJsonl({ ...given, ...options(root) }),
  async createMedium() {
    const root = await temporaryDirectory()
    return {
      location: root,
      open: (given) => openJsonl({ ...given, ...options(root) }),
      storage: () => jsonlStorage(options(root)),
      destroy: () => fs.rm(root, { recursive: true, force: true }),
    }
  },
}
