/**
 * What a program did to a file system, in order: what the model records and what a trace of system calls is turned
 * into. A crash state is what these operations may have left behind when power fails after any of them.
 */

/** Number of a file or directory for life; the root of the model is {@link ROOT}. */
export type Inode = number

export const ROOT: Inode = 0

/** An operation that changes what the program sees at once, and the medium only when it is synced. */
export type Change =
  | {
      readonly kind: 'create'
      readonly directory: Inode
      readonly name: string
      readonly inode: Inode
      readonly node: 'file' | 'directory'
      readonly mode: number
    }
  | { readonly kind: 'link'; readonly directory: Inode; readonly name: string; readonly inode: Inode }
  | { readonly kind: 'unlink'; readonly directory: Inode; readonly name: string }
  | {
      readonly kind: 'rename'
      readonly from: Inode
      readonly name: string
      readonly to: Inode
      readonly newName: string
    }
  | { readonly kind: 'write'; readonly inode: Inode; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly inode: Inode; readonly length: number }

/** What reached the medium. After a failed sync the system holds its pages for clean, and never writes them again. */
export type Sync =
  | { readonly kind: 'sync'; readonly inode: Inode }
  | { readonly kind: 'sync-failed'; readonly inode: Inode }
  | { readonly kind: 'sync-directory'; readonly inode: Inode }

/** What the program promised, or was asked to do, at this point. */
export interface Mark<Expected> {
  readonly kind: 'mark'
  readonly expected: Expected
}

export type Operation<Expected> = Change | Sync | Mark<Expected>

/** One line for people: `write of 512 bytes at 0`. */
export function describeOperation(operation: Operation<unknown> | undefined): string {
  if (operation === undefined) return 'the start'
  const { kind } = operation
  const name = 'name' in operation ? ` ${operation.name}` : ''
  return `${kind}${name}${kind === 'write' ? ` of ${operation.bytes.length} bytes at ${operation.offset}` : ''}`
}
