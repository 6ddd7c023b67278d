/** Append + flush pairs that nobody awaits one by one: whatever arrives while a sync runs shares the next one. */
import { createPersistence } from 'session-persistence'
import { deltaLog, takeEvents } from '../input/generated-log.ts'
import { countedRow, type Row } from '../report/row.ts'
import { appendEach } from './append-inputs.ts'
import { countingStorage } from './counting-storage.ts'
import type { Scenario } from './scenario.ts'

export const pipelinedScenario: Scenario = {
  id: 'pipelined',
  description: 'append + flush pairs awaited together: batches that reached the port, for each event',
  async run(context) {
    const { pipelined } = context.scale
    const events = takeEvents(deltaLog, pipelined)
    const rows: Row[] = []
    for (const backend of context.backends) {
      context.progress(`pipelined flushes on ${backend.name}`)
      const storage = (await context.medium(backend)).storage?.()
      if (storage === undefined) continue
      const counting = countingStorage(storage)
      const persistence = createPersistence(counting.storage)
      context.defer(() => persistence.close())
      const session = await persistence.create()
      const flushes: Promise<unknown>[] = []
      for (const event of events) {
        appendEach(session, [event])
        flushes.push(session.flush())
        // A stream hands out its deltas a few at a time, with turns of the event loop in between.
        if (flushes.length % 16 === 0) await new Promise(setImmediate)
      }
      await Promise.all(flushes)
      const title = `${pipelined.toLocaleString('en-US')} append + flush pairs, not awaited one by one`
      rows.push(
        countedRow(
          { id: 'pipelined', title, backend, through: 'session', unit: 'syncs' },
          counting.counts.appends / counting.counts.events,
        ),
      )
    }
    return rows
  },
}
