/** Creating, appending and resuming, also through errors. */
import { FAULTS } from '../model/fault.ts'
import { sampleBatch } from './sample-events.ts'
import type { Scenario } from './scenario.ts'
import { appendBatches, stored, stubbornly, tear } from './scenario-steps.ts'

export const APPEND_SCENARIOS: readonly Scenario[] = [
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
]
