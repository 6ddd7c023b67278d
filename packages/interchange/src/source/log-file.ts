import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isSessionError, SessionError, type SessionErrorCode } from '@session-persistence/core'
import type { Unpacker } from './unpacker.ts'

/** Bytes asked of the operating system at once. */
const CHUNK_BYTES = 256 * 1024

/** Of a file's head: enough to tell what it is wrapped in. */
const WRAPPING_BYTES = 64

/** How the content of a file is got at, where it is not what is stored. */
interface Wrapping {
  readonly unpacker: Unpacker
  /** Bytes of the file. */
  readonly size: number
}

/**
 * A regular file that several passes read. Every pass opens it anew and checks that it is still the same content, so
 * that nothing has to stay open between them.
 */
export class LogFile {
  readonly path: string
  /** Bytes of the content. */
  readonly size: number
  readonly #identity: string
  readonly #wrapping: Wrapping | undefined
  #hash: string | undefined

  private constructor(path: string, size: number, identity: string, wrapping?: Wrapping) {
    this.path = path
    this.size = size
    this.#identity = identity
    this.#wrapping = wrapping
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
    return new LogFile(absolute, facts.size, identityOf(facts))
  }

  /**
   * The same file as its content, when it is wrapped so; otherwise this one. Reads all of it, to know before anything is
   * made of it that it is whole, and how long. CORRUPT with the path and TOO_LARGE as the unpacker says.
   */
  async unpacked(unpackers: readonly Unpacker[], signal?: AbortSignal): Promise<LogFile> {
    const head = await this.head(WRAPPING_BYTES)
    const unpacker = unpackers.find((each) => each.detect(head))
    if (unpacker === undefined) return this
    const wrapping = { unpacker, size: this.size }
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of new LogFile(this.path, 0, this.#identity, wrapping).chunks(signal)) {
      hash.update(chunk)
      size += chunk.length
    }
    const file = new LogFile(this.path, size, this.#identity, wrapping)
    file.#hash = hash.digest('hex')
    return file
  }

  /** The first bytes, at most `length` of them. */
  async head(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let found = 0
    for await (const chunk of this.chunks()) {
      parts.push(chunk)
      found += chunk.length
      if (found >= length) break
    }
    return Buffer.concat(parts).subarray(0, length)
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
    if (this.#wrapping === undefined) {
      yield* this.#stored(this.size, signal)
      return
    }
    const { unpacker, size } = this.#wrapping
    try {
      const content = unpacker.unpack(this.#stored(size, signal), signal === undefined ? {} : { signal })
      for await (const part of content) {
        // A part may be a whole file; what readers make of a chunk is held at once.
        for (let at = 0; at < part.length; at += CHUNK_BYTES) {
          yield Buffer.from(part.buffer, part.byteOffset + at, Math.min(CHUNK_BYTES, part.length - at))
        }
      }
    } catch (error) {
      if (!isSessionError(error) || error.path !== undefined) throw error
      const { code, offset } = error
      const place = { path: this.path, ...(offset === undefined ? {} : { offset }), cause: error }
      throw new SessionError(code, `${this.path} cannot be unpacked: ${error.message}`, place)
    }
  }

  /** The bytes of the file. */
  async *#stored(size: number, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, undefined> {
    await using pass = await this.#open()
    for (let offset = 0; offset < size; offset += CHUNK_BYTES) {
      signal?.throwIfAborted()
      yield await pass.read(offset, Math.min(CHUNK_BYTES, size - offset))
    }
  }

  /**
   * For reads at any offset. CONFLICT when the file is no longer what {@link LogFile.at} saw; NOT_SUPPORTED for a file
   * that is read through an unpacker, which only goes forward.
   */
  async open(): Promise<FilePass> {
    if (this.#wrapping === undefined) return this.#open()
    const message = `${this.path} is compressed, and a log of this kind is not read in order; unpack it first`
    throw new SessionError('NOT_SUPPORTED', message, { path: this.path })
  }

  async #open(): Promise<FilePass> {
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
