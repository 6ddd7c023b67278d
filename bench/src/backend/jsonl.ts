/** Plain JSON lines, as they come out of the box. */
import fs from 'node:fs/promises'
import { type JsonlOptions, jsonlStorage, openJsonl } from 'session-persistence'
import type { BenchBackend } from './bench-backend.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const options = (root: string): JsonlOptions => ({ root, pack: false })

export const harness: BenchBackend = {
  name: 'jsonl',
  column: 'jsonl',
  packs: false,
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
