// Proves that opening a log to write that is in the page cache asks the thread pool for nothing, however long the log is.
import { createHook } from 'node:async_hooks'
import type { AnySessionEvent } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { SAMPLE_TIME, sampleHeader } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** A read that takes long is taken for one of the medium, which on a busy machine is not always so. */
const ATTEMPTS = 50

it.each([{ events: 10 }, { events: 20_000 }])('of $events events', async ({ events }) => {
  const storage = jsonlStorage({ root: await temporaryDirectory(), durability: 'process' })
  const batch = Array.from(
    { length: events },
    (_, seq): AnySessionEvent => ({
      seq,
      time: SAMPLE_TIME,
      type: 'acme/note',
      data: { text: 'x'.repeat(seq % 200) },
      ignorable: true,
    }),
  )
  const first = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
  for (let from = 0; from < events; from += 10) await first.append(batch.slice(from, from + 10))
  await first.close()
  const hops: number[] = []
  while (hops.length < ATTEMPTS && hops.at(-1) !== 0) {
    let asked = 0
    const hook = createHook({
      init(_id, type) {
        if (type === 'FSREQCALLBACK') asked++
      },
    }).enable()
    const writer = await storage.openWriter('s', { kind: 'resume' })
    hook.disable()
    expect(writer.tail.nextSeq).toBe(events)
    await writer.close()
    hops.push(asked)
  }
  expect(hops.at(-1)).toBe(0)
})
