/**
 * The codec port: all that this package needs of a zstd library. Frames of every codec can be read by every other; what
 * makes a frame of ours (its header, its checksum) is added outside (`zstd-frame`), where the walk over frames, their
 * checksums and their bounds are checked too, before a codec sees them.
 */
export interface ZstdCodec {
  /** For reports: the library. */
  readonly name: string
  /** One standard frame of `content`, without a dictionary; whatever header and checksum the library likes. */
  compress(content: Buffer): Buffer | Promise<Buffer>
  /**
   * The content of concatenated frames, skippable ones between them passed over. `length`: the bytes that they declare
   * together; a codec refuses, or returns another number of bytes, when they hold more or less.
   */
  decompress(frames: Buffer, length: number): Promise<Buffer>
}
