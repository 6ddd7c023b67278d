/** A file system of two megabytes in memory, to fill up and to make read-only. Mounting one needs root. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export class SmallFileSystem {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Undefined where it cannot be mounted. Unmounted after the last test of the file. */
  static mount(): SmallFileSystem | undefined {
    const path = mkdtempSync(join(tmpdir(), 'sqlite-small-'))
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'tmpfs', path]).status === 0
    afterAll(() => {
      if (mounted) spawnSync('umount', ['-l', path])
      rmdirSync(path)
    })
    return mounted ? new SmallFileSystem(path) : undefined
  }

  fillUp(): void {
    const ballast = openSync(join(this.path, 'ballast'), 'w')
    try {
      for (const size of [64 * 1024, 4096, 1]) {
        try {
          for (;;) writeSync(ballast, Buffer.alloc(size))
        } catch {
          // Full, in steps of this size.
        }
      }
    } finally {
      closeSync(ballast)
    }
  }

  giveSpace(): void {
    rmSync(join(this.path, 'ballast'), { force: true })
  }

  resize(megabytes: number): void {
    const { status } = spawnSync('mount', ['-o', `remount,size=${megabytes}m`, this.path])
    if (status !== 0) throw new Error('the file system could not be resized')
  }

  readOnly(on: boolean): void {
    const { status } = spawnSync('mount', ['-o', `remount,${on ? 'ro' : 'rw'}`, this.path])
    if (status !== 0) throw new Error('the file system could not be remounted')
  }

  empty(): void {
    for (const name of readdirSync(this.path)) rmSync(join(this.path, name), { recursive: true, force: true })
  }
}
