/** A frame of which one byte is wrong, put right: the CRC-32 of its record tells which. For `repair`; pure over bytes. */
import { crc32 } from 'node:zlib'
import { wrongBytes } from '@session-persistence/file-log'
import type { Commit } from './commit-record.ts'

/**
 * What the frame was, if no more than one byte of it is wrong; hardly ever more than one answer, each of which has the CRC-32 of the
 * record. That alone proves nothing, since bytes that are damaged in several places may have one too: the content checksum must agree.
 */
export function* mendedFrames(
  frame: Buffer,
  { frameCrc }: Pick<Commit, 'frameCrc'>,
): Generator<Buffer, void, undefined> {
  for (const { at, xor } of wrongBytes(frame, crc32(frame), frameCrc)) {
    const mended = Buffer.from(frame)
    mended[at] = (mended[at] ?? 0) ^ xor
    yield mended
  }
}
