/** What is no plain file stands where one belongs, for every backend. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { REAL_BACKENDS } from '../real/real-backend.ts'
import type { HostileFile } from './hostile-file.ts'

const PLANTS: Readonly<Record<string, HostileFile['plant']>> = {
  'a symbolic link': ({ root, path }) => {
    renameSync(path, `${root}/../elsewhere`)
    symlinkSync(`${root}/../elsewhere`, path)
  },
  'a link to a device that never ends': ({ path }) => {
    rmSync(path)
    symlinkSync('/dev/zero', path)
  },
  'a hard link': ({ root, path }) => linkSync(path, `${root}/../elsewhere`),
  'a FIFO': ({ path }) => {
    rmSync(path)
    execFileSync('mkfifo', [path])
  },
  'a directory': ({ path }) => {
    rmSync(path)
    mkdirSync(path)
  },
}

export const HOSTILE_PLACES: readonly HostileFile[] = REAL_BACKENDS.flatMap((backend) =>
  Object.entries(PLANTS).map(([name, plant]) => ({ name, backend, plant })),
)
