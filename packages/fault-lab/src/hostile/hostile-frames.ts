/** Logs of frames that no writer of ours made: bombs, sizes that are not true, frames of others. */

import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Random } from '@session-persistence/conformance/crash-states'
import { jsonlZstdStorage, type ZstdCodec } from '@session-persistence/jsonl-zstd'
import { sampleBatch, sampleHeader } from '../scenario/sample-events.ts'
import { behind, HOSTILE_TASK, type HostileFile, instead, sparse } from './hostile-file.ts'

const GiB = 1024 * 1024 * 1024
const MAGIC = Buffer.from('28b52ffd', 'hex')

/** A frame with this descriptor, the fields behind it, and blocks. */
function frame(descriptor: number, fields: Buffer, blocks: Buffer, checksum = Buffer.alloc(4, 7)): Buffer {
  return Buffer.concat([MAGIC, Buffer.from([descriptor]), fields, blocks, checksum])
}

function number(value: bigint, bytes: number): Buffer {
  const field = Buffer.alloc(8)
  field.writeBigUInt64LE(value)
  return field.subarray(0, bytes)
}

/** Blocks of one repeated byte: 4 bytes that become up to 128 KiB each. */
function repeated(count: number, size = 128 * 1024, type = 1): Buffer {
  const blocks = Array.from({ length: count }, (_, index) => {
    const block = Buffer.alloc(4, 0x41)
    block.writeUIntLE((index === count - 1 ? 1 : 0) | (type << 1) | (size << 3), 0, 3)
    return block
  })
  return Buffer.concat(blocks)
}

/** A whole session whose batches are, behind valid records, frames with these blocks. */
function recorded(blocks: Buffer): HostileFile['plant'] {
  return async ({ root, path }) => {
    rmSync(dirname(path), { recursive: true })
    const codec: ZstdCodec = {
      name: 'hostile',
      compress: () => frame(0x80, Buffer.concat([Buffer.from([0x58]), number(10n, 4)]), blocks, Buffer.alloc(0)),
      decompress: () => Promise.reject(new Error('not wanted')),
    }
    const storage = jsonlZstdStorage({ root, codec })
    const writer = await storage.openWriter(HOSTILE_TASK.id, { kind: 'create', header: sampleHeader(HOSTILE_TASK.id) })
    await writer.append(sampleBatch(new Random(1), 0, 4, 5_000))
    await writer.close()
    await storage.close()
  }
}

const PLANTS: Readonly<Record<string, HostileFile['plant']>> = {
  'a bomb of 1 GiB in a valid batch': recorded(repeated(8192)),
  'less than it declares in a valid batch': recorded(repeated(1, 3)),
  'a declared size of 2^40': instead(frame(0xe4, number(2n ** 40n, 8), repeated(1, 10))),
  'a declared size of 2^63 behind the log': behind(frame(0xe4, number(2n ** 63n, 8), repeated(1, 10))),
  'a bomb that declares 1 GiB': instead(frame(0xa4, number(BigInt(GiB), 4), repeated(8192))),
  'a bomb that declares nothing': behind(frame(0x04, Buffer.from([0x58]), repeated(8192))),
  'a window of 2 TiB': instead(frame(0x84, Buffer.concat([Buffer.from([0xf8]), number(10n, 4)]), repeated(1, 10))),
  'a dictionary that nobody has': behind(frame(0xa5, Buffer.concat([number(9n, 1), number(10n, 4)]), repeated(1, 10))),
  'a skippable frame of 4 GiB': instead(Buffer.from('502a4d18ffffffff61626364', 'hex')),
  '100,000 empty frames': behind(Buffer.concat(Array(100_000).fill(frame(0x20, Buffer.from([0]), repeated(1, 0))))),
  'a gigabyte of zeros behind the frames': sparse(GiB),
  'lines instead of frames': instead('{"format":"session-persistence","version":1,"id":"x"}\n'),
  'its first half twice': ({ path }) => behind(readFileSync(path).subarray(0, 200))({ path, root: '' }),
}

export const HOSTILE_FRAMES: readonly HostileFile[] = Object.entries(PLANTS).map(([name, plant]) => ({
  name,
  backend: 'jsonl-zstd',
  plant,
}))
