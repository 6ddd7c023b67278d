/** The first page of many sessions, newest first, against a bare `readdir` of the root (R). */
import fs from 'node:fs'
import type { SessionPersistence } from 'session-persistence'
import { deltaLog, takeEvents } from '../input/generated-log.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { plainRow, type Row, ratioRow } from '../report/row.ts'
import { appendEach } from './append-inputs.ts'
import { lasting, type Scenario } from './scenario.ts'

/** Sessions made at once while the store is filled. */
const AT_ONCE = 64
/** Events of each: listing reads heads and tails, so that more would not change it. */
const EVENTS = 8
/** Sessions on the page. */
const PAGE = 50

export const listScenario: Scenario = {
  id: 'list',
  description: 'the first page of many sessions, newest first, no filter, against readdir of the root (R)',
  async run(context) {
    const { listed } = context.scale
    const title = `list page 1 of ${listed.toLocaleString('en-US')}, newest first`
    const rows: Row[] = []
    for (const backend of lasting(context.backends)) {
      const medium = await context.medium(backend)
      const root = medium.location
      const persistence = await medium.open()
      context.defer(() => persistence.close())
      context.progress(`${listed.toLocaleString('en-US')} sessions in ${backend.name}`)
      await fill(persistence, listed)
      const page: Case = { name: 'page', sample: () => elapsed(() => persistence.list({ limit: PAGE })) }
      const facts = { id: 'list/page', title, backend, through: 'session' } as const
      if (root === undefined || !fs.statSync(root).isDirectory()) {
        const samples = await interleave([page], context.plan())
        rows.push(plainRow({ ...facts, unit: 'ms' }, samplesOf(samples, 'page')))
        continue
      }
      const readdir: Case = { name: 'R', sample: () => elapsedSync(() => fs.readdirSync(root)) }
      const samples = await interleave([page, readdir], context.plan())
      rows.push(ratioRow({ ...facts, unit: '× R' }, samplesOf(samples, 'page'), samplesOf(samples, 'R')))
    }
    return rows
  },
}

async function fill(persistence: SessionPersistence, count: number): Promise<void> {
  const events = takeEvents(deltaLog, EVENTS)
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - made) }, async () => {
        const session = await persistence.create({ cwd: '/work/project' })
        appendEach(session, events)
        await session.close()
      }),
    )
  }
}
