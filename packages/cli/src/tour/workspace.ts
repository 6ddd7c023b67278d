import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files that the tour's tools work on: the repository that holds this program, else the installed package. */
export function workspaceRoot(): string {
  const packageRoot = fileURLToPath(new URL('../..', import.meta.url))
  // Two levels and no more: an installed copy must not wander through the project of the person who installed it.
  const repository = join(packageRoot, '..', '..')
  return existsSync(join(repository, 'pnpm-workspace.yaml')) ? repository : packageRoot
}
