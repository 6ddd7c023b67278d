import fs from 'node:fs/promises'
import { type JsonlOptions, jsonlStorage, openJsonl } from 'session-persistence'
import type { BenchBackend, BenchMedium } from './bench-backend.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** JSON lines, packed or not, in directories of their own. */
export function lineBackend(given: {
  readonly name: string
  readonly pack: boolean
  readonly module: string
}): BenchBackend {
  const { name, pack, module } = given
  const medium = async (options: Omit<JsonlOptions, 'root'>, original?: string): Promise<BenchMedium> => {
    const root = temporaryDirectory()
    if (original !== undefined) await fs.cp(original, root, { recursive: true })
    return {
      location: root,
      open: (more) => openJsonl({ ...more, ...options, root }),
      storage: () => jsonlStorage({ ...options, root }),
      copy: () => medium(options, root),
      destroy: () => fs.rm(root, { recursive: true, force: true }),
    }
  }
  return {
    name,
    column: 'jsonl',
    packs: pack,
    module,
    openAt: (root, more) => openJsonl({ ...more, pack, root }),
    createMedium: () => medium({ pack }),
    createProcessMedium: () => medium({ pack, durability: 'process' }),
  }
}
