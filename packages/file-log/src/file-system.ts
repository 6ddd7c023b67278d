/**
 * The file-system port: every byte that a file backend reads or writes goes through it, so that a recorder or a fault
 * injector can stand in its place. The default is {@link nodeFileSystem}. Errors are the operating system's own, with
 * `code` or `errno`; `io-error` turns them into typed ones.
 */

export type FileKind = 'file' | 'directory' | 'symlink' | 'other'

export interface FileStat {
  readonly kind: FileKind
  readonly size: number
  /** Device and inode together: equal for two paths or handles exactly when they are one file. */
  readonly identity: string
  /** Permission bits, 0 to 0o777. */
  readonly mode: number
  /** Last change of the content, in nanoseconds since the epoch. */
  readonly modifiedNs: bigint
}

/**
 * How a file is opened. None follows a symbolic link in the last component, none waits for the other end of a FIFO.
 *
 * - `read`: existing, read only
 * - `append`: existing, every `append` goes to the end
 * - `append-durable`: the same, and `append` resolves when the bytes are on the medium
 * - `patch`: existing, read and written in place
 * - `new`: must not exist (EEXIST); read and write
 * - `lock`: created when missing; read and write
 */
export type OpenMode = 'read' | 'append' | 'append-durable' | 'patch' | 'new' | 'lock'

export interface OpenFile {
  stat(): Promise<FileStat>
  /** Bytes read, 0 at the end of the file. May be fewer than asked for. */
  read(into: Uint8Array, position: number): Promise<number>
  /** One write in place; resolves with the bytes written. Not for the append modes: there the kernel ignores `position`. */
  write(bytes: Uint8Array, position: number): Promise<number>
  /** One write at the end; resolves with the bytes written. For the append modes only. */
  append(bytes: Uint8Array): Promise<number>
  truncate(length: number): Promise<void>
  /** Content, and the size that is needed to read it, on the medium. */
  sync(): Promise<void>
  chmod(mode: number): Promise<void>
  /** False when another handle, in this process or another, holds the lock. Released by `close` or by death. */
  tryLock(): boolean
  close(): Promise<void>
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileKind
}

export interface FileSystem {
  /** What `append-durable` does, for reports: `O_DSYNC` or `fdatasync`. */
  readonly syncMode: string
  /** `mode`: permission bits of a file that this call creates, before the umask. */
  open(path: string, how: OpenMode, mode?: number): Promise<OpenFile>
  lstat(path: string): Promise<FileStat>
  realpath(path: string): Promise<string>
  /** Names only, in no order. */
  readDirectory(path: string): Promise<readonly string[]>
  /** `inherits`: see `made-by-root`. */
  mkdir(path: string, mode: number, inherits?: boolean): Promise<void>
  chmod(path: string, mode: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  /** The directory's entries on the medium. */
  syncDirectory(path: string): Promise<void>
  /** Calls `onChange` when the file or directory may have changed; a hint that may never come. Returns the stop function. */
  watch(path: string, onChange: () => void): () => void

  // Synchronous, for listing and for the check before an append: a thread-pool hop costs ten times the call itself.
  lstatSync(path: string): FileStat
  readDirectorySync(path: string): readonly DirectoryEntry[]
  /** Like `open(path, 'read')`. */
  openSync(path: string): number
  fstatSync(descriptor: number): FileStat
  readSync(descriptor: number, into: Uint8Array, position: number): number
  closeSync(descriptor: number): void
}
