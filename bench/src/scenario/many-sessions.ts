/** Many sessions that flush at once, an append, against one session that flushes alone, in the same rounds. */
import { deltaLog } from '../input/generated-log.ts'
import { elapsed } from '../measure/elapsed.ts'
import { type Case, interleave, samplesOf } from '../measure/interleave.ts'
import { type Row, ratioRow } from '../report/row.ts'
import { appendEach, RoundInputs } from './append-inputs.ts'
import type { Scenario } from './scenario.ts'

/** Flushes of the lone session a round, and of each of the many. */
const ALONE = 100
const EACH = 4

export const manySessionsScenario: Scenario = {
  id: 'many-sessions',
  description: 'many sessions at once, one event a flush: ms an append against one session alone',
  async run(context) {
    const plan = context.plan()
    const rounds = plan.rounds + plan.warmUp
    const alone = new RoundInputs(deltaLog, rounds, ALONE, 1)
    const each = new RoundInputs(deltaLog, rounds, EACH, 1)
    const { sessions: count } = context.scale
    const cases: Case[] = []
    for (const backend of context.backends) {
      const lone = await (await context.open(backend)).create()
      const persistence = await context.open(backend)
      const sessions = await Promise.all(Array.from({ length: count }, () => persistence.create()))
      cases.push({
        name: `${backend.name} one`,
        sample: async (round) => {
          const batches = alone.round(round)
          const ms = await elapsed(async () => {
            for (const batch of batches) {
              appendEach(lone, batch)
              await lone.flush()
            }
          })
          return ms / ALONE
        },
      })
      cases.push({
        name: `${backend.name} many`,
        sample: async (round) => {
          const batches = each.round(round)
          const ms = await elapsed(async () => {
            for (const batch of batches) {
              await Promise.all(
                sessions.map((session) => {
                  appendEach(session, batch)
                  return session.flush()
                }),
              )
            }
          })
          return ms / (EACH * count)
        },
      })
    }
    context.progress(`${count} sessions at once`)
    const samples = await interleave(cases, plan)
    return context.backends.map(
      (backend): Row =>
        ratioRow(
          {
            id: 'many-sessions',
            title: `${count} sessions at once, an append`,
            backend,
            through: 'session',
            unit: '× one session',
          },
          samplesOf(samples, `${backend.name} many`),
          samplesOf(samples, `${backend.name} one`),
          { unit: 'µs', per: 1 },
        ),
    )
  },
}
