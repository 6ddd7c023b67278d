/** Every write path of the file backends, as a harness or an operator takes it. */
import { type AnySessionEvent, isSessionError, type StorageWriter } from '@session-persistence/core'
import { FAULTS } from '../model/fault.ts'
import type { FileBackend } from './file-backend.ts'
import { readSession } from './read-session.ts'
import { sampleBatch, sampleBatches } from './sample-events.ts'
import type { Stage } from './stage.ts'

export interface Scenario {
  readonly name: string
  /** Of the session; default `session`. */
  readonly id?: string
  fits?(backend: FileBackend): boolean
  run(stage: Stage): Promise<void>
}

/** A stored session of some batches, whose writer is gone. */
async function stored(stage: Stage, batches: number): Promise<void> {
  const storage = stage.start()
  const writer = await storage.openWriter(stage.id, { kind: 'create', header: stage.header })
  await appendBatches(stage, writer, batches)
  await writer.close()
  await storage.close()
}

async function appendBatches(stage: Stage, writer: StorageWriter, batches: number): Promise<void> {
  for (let count = 0; count < batches; count++) {
    const bytes = stage.random.pick([10, 60, 300])
    await stage.append(writer, sampleBatch(stage.random, stage.acknowledged.length, 1 + stage.random.below(4), bytes))
  }
}

/** A writer that dies in mid-write: half of its batch is there, of which the medium may have nothing. */
async function tear(stage: Stage): Promise<void> {
  const writer = await stage.start().openWriter(stage.id, { kind: 'resume' })
  await writer.settle()
  let dying = false
  stage.failCalls((call) => {
    if (!dying && call.name !== 'append') return undefined
    const effect = dying ? 'before' : 'half'
    dying = true
    return { code: 'EIO', errno: -5, effect }
  })
  await stage.append(writer, sampleBatch(stage.random, stage.acknowledged.length, 4, 100)).catch(() => {})
}

/** The first call of the process that runs now that fits. */
function failOnce(stage: Stage, fits: (name: string) => boolean): void {
  let failed = false
  stage.failCalls(({ name }) => {
    if (failed || !fits(name)) return undefined
    failed = true
    return { code: 'EIO', errno: -5, effect: 'before' }
  })
}

/** Until it works; every refusal must be a typed one. */
async function stubbornly(step: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await step()
      return
    } catch (error) {
      if (!isSessionError(error) || tries > 50) throw error
    }
  }
}

async function* pages(batches: readonly (readonly AnySessionEvent[])[]): AsyncGenerator<readonly AnySessionEvent[]> {
  yield* batches
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'create and append',
    run: (stage) => stored(stage, 5),
  },
  {
    name: 'create under a long id',
    id: '长'.repeat(120),
    run: (stage) => stored(stage, 2),
  },
  {
    name: 'resume and append',
    async run(stage) {
      await stored(stage, 2)
      const writer = await stage.start().openWriter(stage.id, { kind: 'resume' })
      await appendBatches(stage, writer, 2)
      await writer.close()
    },
  },
  {
    name: 'settle without appending',
    async run(stage) {
      await stored(stage, 2)
      const writer = await stage.start().openWriter(stage.id, { kind: 'resume' })
      await writer.settle()
      await writer.close()
    },
  },
  {
    name: 'resume with a torn tail and append',
    async run(stage) {
      await stored(stage, 2)
      await tear(stage)
      const writer = await stage.start().openWriter(stage.id, { kind: 'resume' })
      if (writer.tail.torn !== undefined) await writer.discardTornTail()
      await stage.recovered(writer)
      await appendBatches(stage, writer, 2)
      await writer.close()
    },
  },
  {
    name: 'append through failing calls',
    async run(stage) {
      const storage = stage.start()
      const writer = await storage.openWriter(stage.id, { kind: 'create', header: stage.header })
      await stage.append(writer, sampleBatch(stage.random, 0, 2, 30))
      for (let round = 0; round < 4; round++) {
        const after = stage.random.below(6)
        const fault = stage.random.pick(FAULTS)
        const forever = stage.random.below(2) === 0
        let calls = 0
        stage.failCalls(() => {
          const at = calls++
          return at === after || (forever && at > after && at < 40) ? fault : undefined
        })
        const batch = sampleBatch(stage.random, stage.acknowledged.length, 1 + stage.random.below(4), 60)
        await stubbornly(() => stage.append(writer, batch))
      }
      stage.failCalls(() => undefined)
      await writer.close()
    },
  },
  {
    name: 'append through a failed sync',
    async run(stage) {
      const writer = await stage.start().openWriter(stage.id, { kind: 'create', header: stage.header })
      await appendBatches(stage, writer, 1)
      let failed = false
      stage.failCalls(({ name }) => {
        if (failed || name !== 'append') return undefined
        failed = true
        return { code: 'EIO', errno: -5, effect: 'after' }
      })
      const batch = sampleBatch(stage.random, stage.acknowledged.length, 3, 60)
      await stubbornly(() => stage.append(writer, batch))
      await appendBatches(stage, writer, 2)
      await writer.close()
    },
  },
  {
    name: 'import: staged, then published',
    async run(stage) {
      const writer = await stage.start().openWriter(stage.id, { kind: 'create', header: stage.header, staged: true })
      const batches = sampleBatches(stage.random, 3, 4, 60)
      for (const batch of batches) await writer.append(batch)
      const all = batches.flat()
      stage.promise({ histories: [{ events: all, atLeast: all.length }], absent: 'allowed' })
      await writer.publish()
      stage.acknowledge(all)
      await appendBatches(stage, writer, 1)
      await writer.close()
    },
  },
  {
    name: 'import: staged, then abandoned',
    async run(stage) {
      const writer = await stage.start().openWriter(stage.id, { kind: 'create', header: stage.header, staged: true })
      for (const batch of sampleBatches(stage.random, 2, 4, 60)) await writer.append(batch)
      await writer.close()
    },
  },
  {
    name: 'upgrade: rewrite, the original kept',
    async run(stage) {
      await stored(stage, 2)
      const writer = await stage.start().openWriter(stage.id, { kind: 'resume' })
      await writer.settle()
      const before = stage.acknowledged
      const batches = sampleBatches(stage.random, 3, 4, 40)
      const after = batches.flat()
      stage.promise({
        histories: [
          { events: before, atLeast: before.length },
          { events: after, atLeast: after.length },
        ],
        absent: 'forbidden',
      })
      await writer.rewrite(stage.header, pages(batches), 'v0')
      stage.acknowledge(after)
      await appendBatches(stage, writer, 1)
      await writer.close()
    },
  },
  {
    name: 'append between derived documents',
    async run(stage) {
      const writer = await stage.start().openWriter(stage.id, { kind: 'create', header: stage.header })
      await appendBatches(stage, writer, 1)
      await writer.saveDerived('summary', '{"title":"one"}')
      await appendBatches(stage, writer, 1)
      await writer.saveDerived('summary', '{"title":"two"}')
      await writer.saveDerived('snapshots', '{}')
      await appendBatches(stage, writer, 1)
      await writer.close()
    },
  },
  {
    name: 'delete, then create again',
    async run(stage) {
      await stored(stage, 2)
      const before = stage.acknowledged
      stage.promise({ histories: [{ events: before, atLeast: before.length }], absent: 'allowed' })
      const storage = stage.start()
      await storage.delete(stage.id)
      stage.acknowledgeAbsence()
      const writer = await storage.openWriter(stage.id, { kind: 'create', header: stage.header })
      await appendBatches(stage, writer, 2)
      await writer.close()
    },
  },
  {
    name: 'delete again what could not be deleted',
    async run(stage) {
      await stored(stage, 1)
      const before = stage.acknowledged
      stage.promise({ histories: [{ events: before, atLeast: before.length }], absent: 'allowed' })
      const storage = stage.start()
      let renamed = false
      failOnce(stage, (name) => {
        renamed = renamed || name === 'rename'
        return renamed && name === 'syncDirectory'
      })
      await stubbornly(async () => {
        await storage.delete(stage.id)
      })
      stage.acknowledgeAbsence()
    },
  },
  {
    name: 'create again what could not be published',
    async run(stage) {
      const writer = await stage.start().openWriter(stage.id, { kind: 'create', header: stage.header })
      let renamed = false
      failOnce(stage, (name) => {
        renamed = renamed || name === 'rename'
        return renamed && name === 'syncDirectory'
      })
      const batch = sampleBatch(stage.random, 0, 2, 30)
      await stubbornly(() => stage.append(writer, batch))
      await writer.close()
    },
  },
  {
    name: 'repair again what could not be repaired',
    async run(stage) {
      await stored(stage, 3)
      const log = await stage.readLog()
      stage.promise({ histories: [], absent: 'forbidden', damaged: true })
      await stage.scribble(Buffer.from('####'), log.length >> 1)
      const storage = stage.start()
      let renamed = false
      failOnce(stage, (name) => {
        renamed = renamed || name === 'rename'
        return renamed && name === 'syncDirectory'
      })
      await stubbornly(async () => {
        await storage.repair?.(stage.id, { dryRun: false })
      })
      stage.acknowledge(await readKept(stage))
    },
  },
  {
    name: 'repair a damaged log',
    async run(stage) {
      await stored(stage, 4)
      const log = await stage.readLog()
      stage.promise({ histories: [], absent: 'forbidden', damaged: true })
      await stage.scribble(Buffer.from('####'), log.length >> 1)
      const storage = stage.start()
      const plan = await storage.repair?.(stage.id, { dryRun: true })
      await storage.repair?.(stage.id, { dryRun: false })
      // What a repair keeps is tested elsewhere; here it must never be undone by a power cut.
      const kept = await readKept(stage)
      if (kept.length !== plan?.kept) throw new Error('the repair kept something else than it had said')
      stage.acknowledge(kept)
    },
  },
  {
    name: 'seal',
    fits: ({ seals }) => seals,
    async run(stage) {
      await stored(stage, 6)
      const storage = stage.start()
      await storage.seal?.(stage.id)
      const writer = await storage.openWriter(stage.id, { kind: 'resume' })
      await appendBatches(stage, writer, 2)
      await writer.close()
    },
  },
]

/** What a repaired session holds. */
async function readKept(stage: Stage): Promise<readonly AnySessionEvent[]> {
  return (await readSession(stage.start(), stage.id)) ?? []
}
