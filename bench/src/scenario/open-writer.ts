/** Opening the port's writer on short and on long logs: header and tail, never the log. */
import { deltaLog } from '../input/generated-log.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { type Row, ratioRow } from '../report/row.ts'
import { lasting, type Scenario, type StoredLog } from './scenario.ts'

const SHORT = 1000
/** Openings of one sample. */
const REPEATS = 10

export const openWriterScenario: Scenario = {
  id: 'open-writer',
  description: "the port's openWriter on a long log against one of 1,000 events",
  async run(context) {
    const { longEvents } = context.scale
    const rows: Row[] = []
    for (const backend of lasting(context.backends)) {
      const short = await context.stored(backend, deltaLog, SHORT)
      const long = await context.stored(backend, deltaLog, longEvents)
      if (short.storage === undefined) continue
      context.progress(`openWriter in ${backend.name}`)
      const cases: Case[] = [
        { name: 'short', sample: () => openOften(short) },
        { name: 'long', sample: () => openOften(long) },
      ]
      const samples = await interleave(cases, context.plan())
      rows.push(
        ratioRow(
          {
            id: 'open-writer',
            title: `openWriter on ${longEvents.toLocaleString('en-US')} events, of one on 1,000`,
            backend,
            through: 'port',
            unit: '× 1,000',
          },
          samplesOf(samples, 'long'),
          samplesOf(samples, 'short'),
          { unit: 'µs', per: 1 },
        ),
      )
    }
    return rows
  },
}

/** Milliseconds of one opening; closing does not count. */
async function openOften({ storage, id }: StoredLog): Promise<number> {
  let ms = 0
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const start = performance.now()
    const writer = await storage?.openWriter(id, { kind: 'resume' })
    ms += performance.now() - start
    await writer?.close()
  }
  return ms / REPEATS
}
