/** Operations in order, with marks between them; and the disk as it was after any number of them. */
import { Disk } from './disk.ts'
import type { DiskImage } from './disk-image.ts'
import type { Change, Operation, Sync } from './operation.ts'

export class Recording<Expected> {
  readonly operations: Operation<Expected>[] = []

  add(operation: Change | Sync): void {
    this.operations.push(operation)
  }

  mark(expected: Expected): void {
    this.operations.push({ kind: 'mark', expected })
  }
}

export interface Moment<Expected> {
  /** Number of operations done. */
  readonly at: number
  /** Changes with the next step. */
  readonly disk: Disk
  readonly expected: Expected
}

/** Every moment between two operations, from before the first to after the last. */
export function* moments<Expected>(
  operations: readonly Operation<Expected>[],
  initially: Expected,
  start?: DiskImage,
): Generator<Moment<Expected>, void, undefined> {
  const disk = start?.toDisk() ?? new Disk()
  let expected = initially
  yield { at: 0, disk, expected }
  for (const [index, operation] of operations.entries()) {
    if (operation.kind === 'mark') expected = operation.expected
    else disk.apply(operation)
    yield { at: index + 1, disk, expected }
  }
}
