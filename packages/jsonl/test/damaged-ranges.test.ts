// Proves that a range of a damaged log, forwards and backwards, gives every sound event between its first one and the
// damage, then CORRUPT; and that damage outside of the range is none of it.
import { describe, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { batchesOf, type DamagedLog, expectRange, RANGES } from './parts/damaged-range.ts'
import { readLog, store, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const LF = 10

/** In steps: a line of each part of a batch, in the first, the second, one of those in the middle, and the last two. */
const DAMAGED = [0, 3, 4, 5, 9, 22, 29, 38, 39, 40, 42, 44, 45, 47, 49]

// 15 kB, and 150 kB: where a search by offset begins at the start of the log, and where it does not.
describe.each([10, 3_000])('lines with %i characters of text', (length) => {
  it.each(DAMAGED)('damage in the line of event %i', async (seq) => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process' })
    const batches = batchesOf(length)
    await store(storage, 's', batches)
    const bytes = await readLog(root, 's')
    bytes.writeUInt8(0x21, startOfLine(bytes, seq + 1) + 3)
    await writeLog(root, 's', bytes)
    const isLast = seq >= 45
    // What a last batch held is not told line by line: it is there as a whole or not at all.
    const log: DamagedLog = isLast ? { hidden: [45, 49], seq, toEnd: true } : { hidden: [seq, seq], seq, toEnd: false }
    for (const range of RANGES) await expectRange(storage, batches.flat(), log, range)
  })
})

function startOfLine(bytes: Buffer, index: number): number {
  let at = 0
  for (let line = 0; line < index; line++) at = bytes.indexOf(LF, at) + 1
  return at
}
