/** Logs of about 16 KiB, read after they were changed in every possible way. */
import { Random } from '@session-persistence/conformance/crash-states'
import type { AnySessionEvent } from '@session-persistence/core'
import type { FileBackend } from '../scenario/file-backend.ts'
import { type DamageVerdict, readDamaged } from '../scenario/read-damaged.ts'
import { sampleBatch } from '../scenario/sample-events.ts'
import { logOf, SINGLE_ID, SingleLog } from '../scenario/single-log.ts'

/** Something whose bytes are damaged, and what is made of them then. */
export interface DamageSubject {
  readonly name: string
  readonly whole: Buffer
  verdictOn(bytes: Buffer): Promise<DamageVerdict>
}

/** A log of at least `bytes`, of batches of all sizes. */
export async function damagedLog(backend: FileBackend, bytes: number, seed: number): Promise<DamageSubject> {
  const random = new Random(seed)
  const batches: (readonly AnySessionEvent[])[] = []
  let whole: Buffer = Buffer.alloc(0)
  for (let seq = 0; whole.length < bytes; ) {
    for (let more = Math.max(1, Math.floor((bytes - whole.length) / 1500)); more > 0; more--) {
      const batch = sampleBatch(random, seq, 1 + random.below(8), random.pick([20, 60, 120]))
      batches.push(batch)
      seq += batch.length
    }
    whole = await logOf(backend, batches)
  }
  const events = batches.flat()
  const log = new SingleLog(backend)
  const verdictOn = (changed: Buffer): Promise<DamageVerdict> => {
    log.set(changed)
    return readDamaged(log.storage, SINGLE_ID, events)
  }
  return { name: backend.name, whole, verdictOn }
}
