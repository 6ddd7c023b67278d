import { crc32 } from 'node:zlib'

/** CRC-32 (ISO-HDLC, as in zlib) of bytes, or of the UTF-8 of a text, as 8 lowercase hex digits. */
export function crc32Hex(content: string | Uint8Array, seed: number = 0): string {
  return crc32(content, seed).toString(16).padStart(8, '0')
}
