// Removes what was built from sources that are gone: the compiler leaves it, and it would be packed and published.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { workspacePackages } from './workspace.mjs'

const builtSuffix = /\.(?:js|d\.ts)(?:\.map)?$/

export function pruneBuilds() {
  for (const { directory } of workspacePackages()) {
    const dist = join(directory, 'dist')
    if (!existsSync(dist)) continue
    for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const built = join(entry.parentPath, entry.name)
      const source = join(directory, 'src', relative(dist, built).replace(builtSuffix, '.ts'))
      if (!existsSync(source)) rmSync(built)
    }
  }
}
