/** Reads exact ranges of a file. */
import { SessionError } from '@session-persistence/core'
import type { FileSystem, OpenFile } from './file-system.ts'
import { attempt } from './io-error.ts'
import type { ByteSource } from './log-codec.ts'

/** The bytes from `offset`: `length` of them, or fewer where the file ends. */
export async function readBytes(file: OpenFile, path: string, offset: number, length: number): Promise<Buffer> {
  // Not from the shared pool: callers keep these bytes across awaits and write into them.
  const bytes = Buffer.allocUnsafeSlow(length)
  return bytes.subarray(0, await readInto(file, path, bytes, offset))
}

/** As {@link readBytes}, into one buffer again and again: what it gave is gone with the next read. */
export class PassingBytes {
  readonly #file: OpenFile
  readonly #path: string
  #bytes: Buffer = Buffer.alloc(0)

  constructor(file: OpenFile, path: string) {
    this.#file = file
    this.#path = path
  }

  async read(offset: number, length: number): Promise<Buffer> {
    if (this.#bytes.length < length) this.#bytes = Buffer.allocUnsafeSlow(length)
    const bytes = this.#bytes.subarray(0, length)
    return bytes.subarray(0, await readInto(this.#file, this.#path, bytes, offset))
  }
}

/** A file that had this size when it was looked at. */
export function byteSource(file: OpenFile, path: string, size: number): ByteSource {
  return {
    path,
    size,
    async read(offset, length) {
      const bytes = await readBytes(file, path, offset, length)
      if (bytes.length === length) return bytes
      // Callers look once more.
      throw new SessionError('CORRUPT', 'the log shrank while it was read', { path, offset })
    },
  }
}

/** Fills `into` from `offset`; returns the number of bytes, fewer only where the file ends. */
export async function readInto(file: OpenFile, path: string, into: Buffer, offset: number): Promise<number> {
  let filled = 0
  while (filled < into.length) {
    const count = await attempt('read', path, () => file.read(into.subarray(filled), offset + filled))
    if (count === 0) break
    filled += count
  }
  return filled
}

export function readIntoSync(fs: FileSystem, descriptor: number, into: Buffer, offset: number): number {
  let filled = 0
  while (filled < into.length) {
    const count = fs.readSync(descriptor, into.subarray(filled), offset + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}
