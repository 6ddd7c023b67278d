/** Bytes on the disk, by input and by events a flush, against the same events as plain JSON lines. */
import type { BenchBackend } from '../backend/bench-backend.ts'
import { deltaLog, type LogInput, messagesLog, takeEvents } from '../input/generated-log.ts'
import { jsonLines } from '../reference/bare-append.ts'
import { countedRow, type Row } from '../report/row.ts'
import { exactly } from '../statistics/estimate.ts'
import { appendEach } from './append-inputs.ts'
import { lasting, type Scenario, type ScenarioContext } from './scenario.ts'

const BATCHES = [1, 10, 100] as const
/** Events of the log; the shares do not depend on it from a few thousand on. */
const EVENTS = 10_000

export const sizeScenario: Scenario = {
  id: 'size',
  description: 'bytes on the disk, of the same events as JSON lines without header and checksums',
  async run(context) {
    const rows: Row[] = []
    for (const backend of lasting(context.backends)) {
      context.progress(`bytes in ${backend.name}`)
      for (const batch of BATCHES) rows.push(await sizeRow(context, backend, deltaLog, batch))
      rows.push(await sizeRow(context, backend, messagesLog, 10))
    }
    return rows
  },
}

async function sizeRow(context: ScenarioContext, backend: BenchBackend, input: LogInput, batch: number): Promise<Row> {
  const events = takeEvents(input, EVENTS)
  // A clock that follows the input: the gaps between events are part of what is stored.
  let now = 0
  const persistence = await context.open(backend, { clock: () => now })
  const session = await persistence.create()
  for (let start = 0; start < events.length; start += batch) {
    for (const event of events.slice(start, start + batch)) {
      now = event.time
      appendEach(session, [event])
    }
    await session.flush()
  }
  await session.close()
  const { bytes } = await persistence.inspect(session.id)
  const row = countedRow(
    {
      id: batch === 100 ? `size/${input.name}` : `size/${input.name}/${batch}`,
      title: `bytes on disk, ${input.name}, ${batch} a flush`,
      backend,
      through: 'session',
      unit: '× JSONL',
    },
    bytes / Buffer.byteLength(jsonLines(events)),
  )
  return { ...row, absolute: { value: exactly(bytes / EVENTS), unit: 'bytes/event' } }
}
