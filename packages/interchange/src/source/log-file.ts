import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SessionError, type SessionErrorCode } from '@session-persistence/core'

/** Bytes asked of the operating system at once. */
const CHUNK_BYTES = 256 * 1024

/**
 * A regular file that several passes read. Every pass opens it anew and checks that it is still the same content, so
 * that nothing has to stay open between them.
 */
export class LogFile {
  readonly path: string
  readonly size: number
  readonly #identity: string
  #hash: string | undefined

  private constructor(path: string, facts: Stats) {
    this.path = path
    this.size = facts.size
    this.#identity = identityOf(facts)
  }

  /**
   * Looks at a path before anything opens it: opening a FIFO would wait for a writer without end. NOT_FOUND,
   * PERMISSION_DENIED, and INVALID_ARGUMENT for what is not a regular file, with what it is.
   */
  static async at(path: string): Promise<LogFile> {
    const absolute = resolve(path)
    let facts: Stats
    try {
      facts = await stat(absolute)
    } catch (error) {
      throw fileError(error, absolute)
    }
    if (!facts.isFile()) throw notRegular(facts, absolute)
    return new LogFile(absolute, facts)
  }

  /** The first bytes, at most `length` of them. */
  async head(length: number): Promise<Buffer> {
    await using pass = await this.open()
    return pass.read(0, Math.min(length, this.size))
  }

  /** SHA-256 of the content as hexadecimal digits. Read once. */
  async hash(signal?: AbortSignal): Promise<string> {
    if (this.#hash === undefined) {
      const hash = createHash('sha256')
      for await (const chunk of this.chunks(signal)) hash.update(chunk)
      this.#hash = hash.digest('hex')
    }
    return this.#hash
  }

  /** The content in order. Each chunk is the caller's to keep. */
  async *chunks(signal?: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    await using pass = await this.open()
    for (let offset = 0; offset < this.size; offset += CHUNK_BYTES) {
      signal?.throwIfAborted()
      yield await pass.read(offset, Math.min(CHUNK_BYTES, this.size - offset))
    }
  }

  /** CONFLICT when the file is no longer what {@link LogFile.at} saw. */
  async open(): Promise<FilePass> {
    let handle: FileHandle
    try {
      // Non-blocking, because the path may have become a FIFO since it was looked at.
      handle = await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK)
    } catch (error) {
      throw fileError(error, this.path)
    }
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) throw notRegular(facts, this.path)
      if (identityOf(facts) !== this.#identity) throw changed(this.path)
      return new FilePass(handle, this.path)
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}

/** One opening of a {@link LogFile}. */
export class FilePass implements AsyncDisposable {
  readonly #handle: FileHandle
  readonly #path: string
  #window: Buffer = Buffer.alloc(0)
  #windowAt = 0

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle
    this.#path = path
  }

  /** Exactly these bytes; CONFLICT when the file has become shorter. */
  async read(offset: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    let filled = 0
    try {
      while (filled < length) {
        const { bytesRead } = await this.#handle.read(buffer, filled, length - filled, offset + filled)
        if (bytesRead === 0) throw changed(this.#path)
        filled += bytesRead
      }
    } catch (error) {
      throw error instanceof SessionError ? error : fileError(error, this.#path)
    }
    return buffer
  }

  /** The same for reads that mostly go forward: neighbours are answered from one window. */
  async readNear(offset: number, length: number, size: number): Promise<Buffer> {
    if (offset < this.#windowAt || offset + length > this.#windowAt + this.#window.length) {
      this.#window = await this.read(offset, Math.min(Math.max(length, CHUNK_BYTES), size - offset))
      this.#windowAt = offset
    }
    return this.#window.subarray(offset - this.#windowAt, offset - this.#windowAt + length)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

function identityOf(facts: Stats): string {
  return `${facts.dev}:${facts.ino}:${facts.size}:${facts.mtimeMs}`
}

function changed(path: string): SessionError {
  return new SessionError('CONFLICT', `The file ${path} changed while it was read`, { path })
}

function notRegular(facts: Stats, path: string): SessionError {
  const what = facts.isDirectory()
    ? 'a directory; name a log file in it'
    : facts.isFIFO()
      ? 'a FIFO, not a file'
      : facts.isSocket()
        ? 'a socket, not a file'
        : 'a device, not a file'
  return new SessionError('INVALID_ARGUMENT', `${path} is ${what}`, { path })
}

const FILE_ERROR_CODES: { readonly [code: string]: SessionErrorCode } = {
  ENOENT: 'NOT_FOUND',
  ENOTDIR: 'NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  ELOOP: 'PERMISSION_DENIED',
}

const FILE_ERROR_TEXTS: { readonly [code in SessionErrorCode]?: string } = {
  NOT_FOUND: 'There is no file',
  PERMISSION_DENIED: 'Access was denied to',
}

function fileError(error: unknown, path: string): SessionError {
  const name = error instanceof Error && 'code' in error ? String(error.code) : ''
  const code = FILE_ERROR_CODES[name] ?? 'IO'
  return new SessionError(code, `${FILE_ERROR_TEXTS[code] ?? 'Could not read'} ${path}`, { path, cause: error })
}
