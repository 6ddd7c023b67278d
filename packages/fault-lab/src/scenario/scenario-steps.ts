/** What scenarios have in common: sessions that are stored, writers that die, calls that fail once. */
import { type AnySessionEvent, isSessionError, type StorageWriter } from '@session-persistence/core'
import { readSession } from './read-session.ts'
import { sampleBatch } from './sample-events.ts'
import type { Stage } from './stage.ts'

/** A stored session of some batches, whose writer is gone. */
export async function stored(stage: Stage, batches: number): Promise<void> {
  const storage = stage.start()
  const writer = await storage.openWriter(stage.id, { kind: 'create', header: stage.header })
  await appendBatches(stage, writer, batches)
  await writer.close()
  await storage.close()
}

export async function appendBatches(stage: Stage, writer: StorageWriter, batches: number): Promise<void> {
  for (let count = 0; count < batches; count++) {
    const bytes = stage.random.pick([10, 60, 300])
    await stage.append(writer, sampleBatch(stage.random, stage.acknowledged.length, 1 + stage.random.below(4), bytes))
  }
}

/** A writer that dies in mid-write: half of its batch is there, of which the medium may have nothing. */
export async function tear(stage: Stage): Promise<void> {
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
export function failOnce(stage: Stage, fits: (name: string) => boolean): void {
  let failed = false
  stage.failCalls(({ name }) => {
    if (failed || !fits(name)) return undefined
    failed = true
    return { code: 'EIO', errno: -5, effect: 'before' }
  })
}

/** Until it works; every refusal must be a typed one. */
export async function stubbornly(step: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await step()
      return
    } catch (error) {
      if (!isSessionError(error) || tries > 50) throw error
    }
  }
}

export async function* pages(
  batches: readonly (readonly AnySessionEvent[])[],
): AsyncGenerator<readonly AnySessionEvent[]> {
  yield* batches
}

/** What a repaired session holds. */
export async function readKept(stage: Stage): Promise<readonly AnySessionEvent[]> {
  return (await readSession(stage.start(), stage.id)) ?? []
}
