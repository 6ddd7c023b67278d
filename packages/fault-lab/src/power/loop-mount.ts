/** A file system of its own in a file, whose power can be cut. Needs root, loop devices and the mkfs of its kind. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MountKind {
  readonly name: string
  readonly make: readonly string[]
  readonly options: string
  readonly bytes: number
}

const MiB = 1024 * 1024

export const MOUNT_KINDS: readonly MountKind[] = [
  { name: 'ext4', make: ['mkfs.ext4', '-q', '-F'], options: 'loop', bytes: 64 * MiB },
  { name: 'ext4, commit=1', make: ['mkfs.ext4', '-q', '-F'], options: 'loop,commit=1', bytes: 64 * MiB },
  { name: 'ext4, data=journal', make: ['mkfs.ext4', '-q', '-F'], options: 'loop,data=journal', bytes: 64 * MiB },
  // The smallest that mkfs.xfs makes.
  { name: 'XFS', make: ['mkfs.xfs', '-q', '-f'], options: 'loop', bytes: 320 * MiB },
]

/** FS_IOC_SHUTDOWN with "do not flush the log": from then on nothing reaches the medium. */
const SHUTDOWN = 'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587D, $how) or die $!'

function run(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

/** On a medium with less room than it believes: its writes fail when that room is used up. */
export const THIN_EXT4: MountKind = {
  name: 'ext4 on a medium that is full',
  make: ['mkfs.ext4', '-q', '-F', '-J', 'size=4', '-E', 'nodiscard,lazy_itable_init=0,lazy_journal_init=0'],
  options: 'loop',
  bytes: 24 * MiB,
}

export class LoopMount {
  readonly path: string
  readonly #image: string
  readonly #kind: MountKind

  private constructor(path: string, image: string, kind: MountKind) {
    this.path = path
    this.#image = image
    this.#kind = kind
  }

  /** Undefined where such a file system cannot be made or mounted here. */
  static make(kind: MountKind, directory: string): LoopMount | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
    const image = join(directory, 'image')
    const path = join(directory, 'mount')
    mkdirSync(path, { recursive: true })
    writeFileSync(image, '')
    truncateSync(image, kind.bytes)
    const [command = '', ...args] = kind.make
    if (!run(command, ...args, image)) return undefined
    const mount = new LoopMount(path, image, kind)
    if (!mount.mount()) return undefined
    if (mount.cutPower() && mount.remount()) return mount
    mount.destroy()
    return undefined
  }

  mount(): boolean {
    return run('mount', '-o', this.#kind.options, this.#image, this.path)
  }

  /** From now on nothing is written any more, whoever asks. */
  cutPower(): boolean {
    return run('perl', '-e', SHUTDOWN, this.path)
  }

  /** The machine starts again: the journal is replayed. */
  remount(): boolean {
    // A process that was just killed may take a moment to let go.
    for (let tries = 0; tries < 50; tries++) {
      if (run('umount', this.path)) return this.mount()
      spawnSync('sleep', ['0.1'])
    }
    return false
  }

  destroy(): void {
    run('umount', '-l', this.path)
    rmSync(this.#image, { force: true })
  }
}
