/** The first page of many sessions, newest first, and all pages, against a bare `readdir` of as many directories (R). */
import fs from 'node:fs'
import path from 'node:path'
import type { SessionPersistence } from 'session-persistence'
import { deltaLog, takeEvents } from '../input/generated-log.ts'
import { seededRandom } from '../input/seeded-random.ts'
import { elapsed, elapsedSync } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { type Row, ratioRow } from '../report/row.ts'
import { appendEach } from './append-inputs.ts'
import { lasting, type Scenario } from './scenario.ts'

/** Sessions made at once while the store is filled. */
const AT_ONCE = 64
/** Events of each: listing reads heads and tails, so that more would not change it. */
const EVENTS = 8
/** Sessions on the page. */
const PAGE = 50
/** Sessions a page when all of them are asked for: the most that a page may have. */
const PAGE_MAX = 1000

export const listScenario: Scenario = {
  id: 'list',
  description: 'the first page of many sessions, newest first, no filter, and all pages, against readdir (R)',
  async run(context) {
    const { listed } = context.scale
    const first = `list page 1 of ${listed.toLocaleString('en-US')}, newest first`
    const all = `list all ${listed.toLocaleString('en-US')}, ${PAGE_MAX.toLocaleString('en-US')} a page`
    const root = path.join(context.directory, 'listed')
    makeDirectory(root, listed)
    context.defer(() => fs.rmSync(root, { recursive: true, force: true }))
    const rows: Row[] = []
    for (const backend of lasting(context.backends)) {
      context.progress(`${listed.toLocaleString('en-US')} sessions in ${backend.name}`)
      const persistence = await context.open(backend)
      await fill(persistence, listed)
      const cases: Case[] = [
        { name: 'page', sample: () => elapsed(() => persistence.list({ limit: PAGE })) },
        { name: 'all', sample: () => elapsed(() => listAll(persistence, listed)) },
        { name: 'R', sample: () => elapsedSync(() => fs.readdirSync(root)) },
      ]
      const samples = await interleave(cases, context.plan())
      const facts = { backend, through: 'session', unit: '× R' } as const
      const R = samplesOf(samples, 'R')
      rows.push(ratioRow({ ...facts, id: 'list/page', title: first }, samplesOf(samples, 'page'), R))
      rows.push(ratioRow({ ...facts, id: 'list/all', title: all }, samplesOf(samples, 'all'), R))
    }
    return rows
  },
}

/** What reference R reads: as many directories, with names of the same length. */
function makeDirectory(root: string, count: number): void {
  fs.mkdirSync(root)
  const random = seededRandom(1)
  const digits = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  for (let made = 0; made < count; made++) {
    const [a, b, c, d] = [digits(), digits(), digits(), digits()]
    fs.mkdirSync(path.join(root, `${a}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`))
  }
}

async function listAll(persistence: SessionPersistence, expected: number): Promise<void> {
  let found = 0
  let cursor: string | undefined
  do {
    const page = await persistence.list({ limit: PAGE_MAX, ...(cursor === undefined ? {} : { cursor }) })
    found += page.sessions.length
    cursor = page.cursor
  } while (cursor !== undefined)
  if (found !== expected) throw new Error(`the list gave ${found} sessions of ${expected}`)
}

async function fill(persistence: SessionPersistence, count: number): Promise<void> {
  const events = takeEvents(deltaLog, EVENTS)
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - made) }, async () => {
        const session = await persistence.create({ cwd: '/home/me/project' })
        appendEach(session, events.slice(0, -1))
        await session.flush()
        // The last batch of a real log is short: the end of a turn.
        appendEach(session, events.slice(-1))
        await session.close()
      }),
    )
  }
}
