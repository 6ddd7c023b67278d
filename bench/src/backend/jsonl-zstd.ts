/** JSON lines in checksummed Zstandard frames. */
import fs from 'node:fs/promises'
import { jsonlZstdStorage, openJsonlZstd, sealSession } from 'session-persistence'
import type { BenchBackend } from './bench-backend.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { whyUnavailable } from './why-unavailable.ts'

export const harness: BenchBackend = {
  name: 'jsonl-zstd',
  column: 'jsonl-zstd',
  packs: true,
  module: import.meta.url,
  unavailable: () => whyUnavailable('jsonl-zstd'),
  openAt: (root, given) => openJsonlZstd({ ...given, root }),
  async createMedium() {
    const root = await temporaryDirectory()
    return {
      location: root,
      open: (given) => openJsonlZstd({ ...given, root }),
      storage: () => jsonlZstdStorage({ root }),
      seal: (id) => sealSession({ root }, id),
      destroy: () => fs.rm(root, { recursive: true, force: true }),
    }
  },
}
