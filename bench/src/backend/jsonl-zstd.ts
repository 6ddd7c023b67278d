/** JSON lines in checksummed Zstandard frames. */
import fs from 'node:fs/promises'
import { type JsonlZstdOptions, jsonlZstdStorage, openJsonlZstd, sealSession } from 'session-persistence'
import type { BenchBackend, BenchMedium } from './bench-backend.ts'
import { builtModule } from './built-module.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { whyUnavailable } from './why-unavailable.ts'

async function medium(options: Omit<JsonlZstdOptions, 'root'>, original?: string): Promise<BenchMedium> {
  const root = temporaryDirectory()
  if (original !== undefined) await fs.cp(original, root, { recursive: true })
  return {
    location: root,
    open: (given) => openJsonlZstd({ ...given, ...options, root }),
    storage: () => jsonlZstdStorage({ ...options, root }),
    seal: (id) => sealSession({ root }, id),
    copy: () => medium(options, root),
    destroy: () => fs.rm(root, { recursive: true, force: true }),
  }
}

export const harness: BenchBackend = {
  name: 'jsonl-zstd',
  column: 'jsonl-zstd',
  packs: true,
  module: builtModule('jsonl-zstd'),
  unavailable: () => whyUnavailable('jsonl-zstd'),
  openAt: (root, given) => openJsonlZstd({ ...given, root }),
  createMedium: () => medium({}),
  createProcessMedium: () => medium({ durability: 'process' }),
}
