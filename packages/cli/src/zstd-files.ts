import type { Unpacker } from '@session-persistence/interchange'
import { decodeZstdFrames } from 'session-persistence'

const frameMagic = 0xfd2fb528
/** Sixteen magic numbers of frames that hold no content; the lowest four bits are free. */
const skippableMagic = 0x184d2a50

/** Files of Zstandard frames, such as the logs that DeepSeek Harness compresses. */
export const zstdFiles: Unpacker = {
  detect(head) {
    if (head.length < 4) return false
    const magic = head.readUInt32LE(0)
    return magic === frameMagic || (magic & 0xfffffff0) === skippableMagic
  },
  unpack: decodeZstdFrames,
}
