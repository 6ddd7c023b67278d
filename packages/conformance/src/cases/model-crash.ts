import type { EventInput } from '@session-persistence/core'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectThat } from '../expectation.ts'
import { LogModel } from '../generated/log-model.ts'
import { contentOf, storedEvents } from '../stored-events.ts'
import type { WorkerStep } from '../worker-process.ts'

/** Batches that one life of the process submits at most. */
const BATCHES_MAX = 8

export const MODEL_CRASH_CASES: readonly ConformanceCase[] = casesOf('MODEL', {
  4: {
    title:
      'Generated batches, killed at a generated acknowledgement, resumed and killed again: acknowledged \u2264 recovered \u2264 submitted.',
    why: 'A store that survives one crash has still to survive the next one.',
    needs: { tier: 'process', capabilities: { durability: ['process', 'power'] }, timeoutMs: 90_000 },
    run: async (context) => {
      let log = new LogModel()
      for (let life = 1; life <= (context.effort === 'full' ? 12 : 3); life += 1)
        log = await liveAndDie(context, log, life)
    },
  },
})

/** One life of a writer: what the log holds after its death. */
async function liveAndDie(context: CaseContext, log: LogModel, life: number): Promise<LogModel> {
  const first: WorkerStep = { do: log.accepted.length === 0 ? 'create' : 'resume', id: 's' }
  if (first.do === 'resume') log.resume()
  const before = log.durable
  const steps: WorkerStep[] = [first]
  /** How much was accepted when each step began. */
  const submitted: number[] = [log.accepted.length]
  for (let batch = 0; batch < 1 + context.random() * BATCHES_MAX; batch += 1) {
    const events = nextBatch(context, log)
    log.accept(events)
    steps.push({ do: 'append', id: 's', events }, { do: 'flush', id: 's' })
    submitted.push(log.accepted.length, log.accepted.length)
  }
  const worker = context.spawn({ kind: 'script', steps })
  const lines = 1 + Math.floor(context.random() * 2 * steps.length)
  for (let line = 0; line < lines; line += 1) {
    const said = await worker.next()
    expectThat(said?.kind === 'begin' || said?.kind === 'done', `life ${life}: the writer said ${JSON.stringify(said)}`)
  }
  await worker.kill()
  let [acknowledged, begun] = [0, 0]
  for (const line of worker.lines) {
    if (line.kind === 'done') acknowledged = Math.max(acknowledged, line.durable)
    if (line.kind === 'begin') begun = line.step
  }
  const stored = await agreedEvents(context)
  // The resume that began may have closed a turn or not: what stood before it is there in any case.
  const least = Math.max(acknowledged, before - (first.do === 'resume' ? 1 : 0))
  expectThat(stored.length >= least, `life ${life}: ${least} events acknowledged, ${stored.length} recovered`)
  const most = submitted[begun] ?? 0
  expectThat(stored.length <= most, `life ${life}: ${most} events submitted, ${stored.length} recovered`)
  expectEqual(stored, log.accepted.slice(0, stored.length), `life ${life}: events recovered`)
  return log.cutTo(stored.length)
}

function nextBatch(context: CaseContext, log: LogModel): readonly EventInput[] {
  const kinds = ['turn', 'open-turn', 'message'] as const
  return log.next(kinds[Math.floor(context.random() * kinds.length)] ?? 'turn', 'x'.repeat(context.random() * 2_000))
}

/** What two handles that know nothing of each other read, and agree on. */
async function agreedEvents(context: CaseContext): Promise<readonly unknown[]> {
  const found: (readonly unknown[])[] = []
  for (let reader = 0; reader < 2; reader += 1) {
    const persistence = await context.open()
    const there = (await persistence.list()).sessions.length > 0
    found.push(there ? (await storedEvents(persistence, 's')).map(contentOf) : [])
    await persistence.close()
  }
  expectEqual(found[1], found[0], 'what a second reopening finds')
  return found[0] ?? []
}
