/** Bytes on the disk, by input and by events a flush, against the same events as plain JSON lines with checksums. */
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
/** What plain JSONL adds to each line: `,"crc":"0a1b2c3d"`. */
const CHECKSUM_BYTES = 17

export const sizeScenario: Scenario = {
  id: 'size',
  description: 'bytes on the disk, of the same events as plain JSON lines with checksums',
  async run(context) {
    const rows: Row[] = []
    for (const backend of lasting(context.backends)) {
      context.progress(`bytes in ${backend.name}`)
      for (const batch of BATCHES) rows.push(...(await sizeRows(context, backend, deltaLog, batch)))
      rows.push(...(await sizeRows(context, backend, messagesLog, 10)))
    }
    return rows
  },
}

/** Size while the session is open; where the backend can merge small batches, of delta by 100 and of messages after that. */
async function sizeRows(
  context: ScenarioContext,
  backend: BenchBackend,
  input: LogInput,
  batch: number,
): Promise<readonly Row[]> {
  const events = takeEvents(input, EVENTS)
  // A clock that follows the input: the gaps between events are part of what is stored.
  let now = 0
  const medium = await context.medium(backend)
  const persistence = await medium.open({ clock: () => now })
  context.defer(() => persistence[Symbol.asyncDispose]())
  const session = await persistence.create()
  for (let start = 0; start < events.length; start += batch) {
    for (const event of events.slice(start, start + batch)) {
      now = event.time
      appendEach(session, [event])
    }
    await session.flush()
  }
  const json = Buffer.byteLength(jsonLines(events)) + events.length * CHECKSUM_BYTES
  const row = (id: string, how: string, bytes: number): Row => {
    const title = `bytes on disk, ${input.name}, ${how}`
    const facts = { id: `size/${input.name}${id}`, title, backend, through: 'session', unit: '× JSONL' } as const
    return { ...countedRow(facts, bytes / json), absolute: { value: exactly(bytes / EVENTS), unit: 'bytes/event' } }
  }
  const open = (await persistence.inspect(session.id)).bytes
  const rows = [row(`/${batch}`, `${batch} a flush`, open)]
  await session.close()
  if (medium.seal === undefined || (input === deltaLog && batch !== 100)) return rows
  await medium.seal(session.id)
  return [...rows, row('/sealed', 'sealed', (await persistence.inspect(session.id)).bytes)]
}
