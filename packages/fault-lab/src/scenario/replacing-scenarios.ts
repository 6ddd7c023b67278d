/** Everything that replaces or removes what is stored: imports, upgrades, derived documents, deletes, repairs, sealing. */
import { sampleBatch, sampleBatches } from './sample-events.ts'
import type { Scenario } from './scenario.ts'
import { appendBatches, failOnce, pages, readKept, stored, stubbornly } from './scenario-steps.ts'
import type { Stage } from './stage.ts'

/** What gave a log its new name could not make that durable. */
function failSyncAfterRename(stage: Stage): void {
  let renamed = false
  failOnce(stage, (name) => {
    renamed = renamed || name === 'rename'
    return renamed && name === 'syncDirectory'
  })
}

async function storedAndDamaged(stage: Stage, batches: number): Promise<void> {
  await stored(stage, batches)
  const log = await stage.readLog()
  stage.promise({ histories: [], absent: 'forbidden', damaged: true })
  await stage.scribble(Buffer.from('####'), log.length >> 1)
}

/** From now on it may be gone, and must be whole where it is not. */
async function storedToBeDeleted(stage: Stage, batches: number): Promise<void> {
  await stored(stage, batches)
  const before = stage.acknowledged
  stage.promise({ histories: [{ events: before, atLeast: before.length }], absent: 'allowed' })
}

export const REPLACING_SCENARIOS: readonly Scenario[] = [
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
      await storedToBeDeleted(stage, 2)
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
      await storedToBeDeleted(stage, 1)
      const storage = stage.start()
      failSyncAfterRename(stage)
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
      failSyncAfterRename(stage)
      const batch = sampleBatch(stage.random, 0, 2, 30)
      await stubbornly(() => stage.append(writer, batch))
      await writer.close()
    },
  },
  {
    name: 'repair again what could not be repaired',
    async run(stage) {
      await storedAndDamaged(stage, 3)
      const storage = stage.start()
      failSyncAfterRename(stage)
      await stubbornly(async () => {
        await storage.repair?.(stage.id, { dryRun: false })
      })
      stage.acknowledge(await readKept(stage))
    },
  },
  {
    name: 'repair a damaged log',
    async run(stage) {
      await storedAndDamaged(stage, 4)
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
