// Proves that a log of which one window holds many pages, each decoded while the one before it is used, is read as it was
// written: whole, from two places at once, after a reading that stopped, and up to a damage in a page that was begun ahead.
import { type AnySessionEvent, isElided, type SessionStorage, type StoredRecord } from '@session-persistence/core'
import { beforeEach, expect, it } from 'vitest'
import { readAll, SAMPLE_TIME, store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { chooseCodec, jsonlZstdStorage, type ZstdCodec } from '../src/index.ts'
import { readLog, unitsOf, writeLog } from './parts/frame-log.ts'

const PAGE_CONTENT_BYTES = 512 * 1024
const BATCH = 40
const EVENTS = Array.from(
  { length: 500 * BATCH },
  (_, seq): AnySessionEvent => ({
    seq,
    time: SAMPLE_TIME + seq,
    type: 'acme/note',
    data: { text: 'again and '.repeat(15) },
    ignorable: true,
  }),
)

let root: string
let storage: SessionStorage
/** One call of the codec in six fails, as this number says, which changes with each; 0 for none. */
let failing = 0
/** Bytes of content that were asked for so far. */
let asked = 0

beforeEach(async () => {
  root = await temporaryDirectory()
  asked = 0
  failing = 0
  const inner = chooseCodec()
  const codec: ZstdCodec = {
    ...inner,
    decompress(frames, length) {
      asked += length
      failing = (Math.imul(failing, 1_103_515_245) + 12_345 * Math.sign(failing)) & 0x7fff_ffff
      if (failing > 0 && (failing >>> 8) % 6 === 0) throw new Error('no memory')
      return inner.decompress(frames, length)
    },
  }
  storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false, codec })
  const batches = Array.from({ length: EVENTS.length / BATCH }, (_, at) => EVENTS.slice(BATCH * at, BATCH * (at + 1)))
  await store(storage, 's', batches)
})

it('the next page is begun when one is given, and nothing is decoded twice', async () => {
  const reader = await storage.openReader('s')
  const pages = reader.read({})[Symbol.asyncIterator]()
  const first = await pages.next()
  expect(first.done).toBe(false)
  expect(asked).toBeGreaterThan(1.5 * PAGE_CONTENT_BYTES)
  expect(asked).toBeLessThan(2.1 * PAGE_CONTENT_BYTES)
  const records: StoredRecord[] = [...(first.value ?? [])]
  for (let page = await pages.next(); page.done !== true; page = await pages.next()) records.push(...page.value)
  expect(records).toEqual(EVENTS)
  expect(asked).toBe(EVENTS.reduce((sum, event) => sum + JSON.stringify(event).length + 1, 0))
  await reader.close()
})

it('two readings of one reader, page by page in turns, and one behind them', async () => {
  const reader = await storage.openReader('s')
  const readings = [
    { pages: reader.read({})[Symbol.asyncIterator](), from: 0 },
    { pages: reader.read({ from: 7_777, elideChunks: true })[Symbol.asyncIterator](), from: 7_777 },
  ].map((reading) => ({ ...reading, records: [] as StoredRecord[], done: false }))
  while (readings.some(({ done }) => !done)) {
    for (const reading of readings) {
      const { done, value } = await reading.pages.next()
      reading.done = done === true
      if (value !== undefined) reading.records.push(...value)
    }
  }
  for (const { records, from } of readings) expect(records).toEqual(EVENTS.slice(from))
  for await (const page of reader.read({})) {
    expect(page[0]).toEqual(EVENTS[0])
    break
  }
  const again: StoredRecord[] = []
  for await (const page of reader.read({})) again.push(...page)
  expect(again.filter((record) => !isElided(record))).toEqual(EVENTS)
  await reader.close()
})

it('backwards', async () => {
  expect([...(await readAll(storage, 's', { reverse: true }))].reverse()).toEqual(EVENTS)
})

it.each([{ unit: 3 }, { unit: 60 }, { unit: 130 }, { unit: 300 }])(
  'a damaged frame of unit $unit',
  async ({ unit }) => {
    const log = await readLog(root, 's')
    const place = unitsOf(log)[unit]
    if (place === undefined) throw new Error('there are fewer units')
    log[place.commit - 20] = (log[place.commit - 20] ?? 0) ^ 1
    await writeLog(root, 's', log)
    const reader = await storage.openReader('s')
    const read: StoredRecord[] = []
    const reading = (async () => {
      for await (const page of reader.read({})) read.push(...page)
    })()
    // The first unit is the header.
    const seq = BATCH * (unit - 1)
    await expect(reading).rejects.toMatchObject({ code: 'CORRUPT', seq, offset: place.start })
    expect(read).toEqual(EVENTS.slice(0, seq))
    await reader.close()
  },
)

it('a codec that fails now and then ends a reading, and makes it pass over nothing', async () => {
  let failures = 0
  for (let seed = 1; seed <= 60; seed++) {
    failing = seed
    const events: AnySessionEvent[] = []
    const reading = (async () => {
      const reader = await storage.openReader('s')
      try {
        for await (const page of reader.read({})) for (const record of page) if (!isElided(record)) events.push(record)
      } finally {
        await reader.close()
      }
    })()
    await reading.catch((error: unknown) => {
      failures++
      expect(error).toMatchObject({ code: 'CORRUPT' })
    })
    expect(events.map(({ seq }) => seq)).toEqual(EVENTS.slice(0, events.length).map(({ seq }) => seq))
  }
  expect(failures).toBeGreaterThan(5)
})
