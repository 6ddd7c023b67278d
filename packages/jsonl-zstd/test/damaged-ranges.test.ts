// Proves that a range of a damaged log, forwards and backwards, gives every sound event between its first one and the
// damage, then CORRUPT; and that damage outside of the range is none of it.
import { describe, it } from 'vitest'
import { batchesOf, expectRange, RANGES } from '../../jsonl/test/parts/damaged-range.ts'
import { store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { readLog, unitsOf, writeLog } from './parts/frame-log.ts'

// 15 kB, and 75 kB: where a search by offset begins at the start of the log, and where it does not.
describe.each([10, 3_000])('batches with %i characters of text in each event', (length) => {
  it.each([0, 1, 4, 7, 8, 9])('damage in the frame of batch %i', async (batch) => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    const batches = batchesOf(length)
    await store(storage, 's', batches)
    const bytes = await readLog(root, 's')
    // The first unit is the header.
    const unit = unitsOf(bytes)[batch + 1]
    if (unit === undefined) throw new Error(`no batch ${batch}`)
    bytes.writeUInt8(bytes.readUInt8(unit.commit - 6) ^ 1, unit.commit - 6)
    await writeLog(root, 's', bytes)
    // A frame is read as a whole; its commit record tells how many events it holds.
    const log = { hidden: [5 * batch, 5 * batch + 4], seq: 5 * batch, toEnd: false } as const
    for (const range of RANGES) await expectRange(storage, batches.flat(), log, range)
  })

  it('damage in the commit record of the last batch', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    const batches = batchesOf(length)
    await store(storage, 's', batches)
    const bytes = await readLog(root, 's')
    const commit = unitsOf(bytes)[10]?.commit ?? 0
    bytes.writeUInt8(bytes.readUInt8(commit + 20) ^ 1, commit + 20)
    await writeLog(root, 's', bytes)
    const log = { hidden: [45, 49], seq: 45, toEnd: true } as const
    for (const range of RANGES) await expectRange(storage, batches.flat(), log, range)
  })
})
