/**
 * What files may be wrapped in. The caller brings it, since this package has no codec; a file that no unpacker knows is
 * refused with what it is.
 */
export interface Unpacker {
  /** Whether a file that begins with `head` is wrapped so. */
  detect(head: Buffer): boolean
  /**
   * The content, in bounded memory. Rejects with CORRUPT for what is damaged or cut, and TOO_LARGE for what would not
   * keep the bound.
   */
  unpack(bytes: AsyncIterable<Uint8Array>, options: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>
}
