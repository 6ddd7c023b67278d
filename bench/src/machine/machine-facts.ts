import fs from 'node:fs'
import os from 'node:os'
import { probeSync, type SyncProbe } from './sync-probe.ts'

/** What the numbers depend on. No host name, no user, no path. */
export interface MachineFacts {
  readonly node: string
  readonly v8: string
  readonly platform: string
  readonly release: string
  readonly cpu: string
  readonly cpus: number
  readonly memoryBytes: number
  /** Load of the last minute when the run started; 0 on Windows. */
  readonly load: number
  /** Type of the file system under test, as the kernel numbers it; undefined where it is not told. */
  readonly fileSystem: string | undefined
  readonly sync: SyncProbe
}

/** From statfs(2). */
const FILE_SYSTEMS: { readonly [magic: number]: string } = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlayfs',
  26985: 'nfs',
  801189825: 'zfs',
}

function fileSystemOf(directory: string): string | undefined {
  try {
    const { type } = fs.statfsSync(directory)
    return FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`
  } catch {
    return undefined
  }
}

/** `directory`: where the stores of this run live. */
export function machineFacts(directory: string): MachineFacts {
  return {
    node: process.version,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    release: os.release(),
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cpus: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    load: os.loadavg()[0] ?? 0,
    fileSystem: fileSystemOf(directory),
    sync: probeSync(directory),
  }
}
