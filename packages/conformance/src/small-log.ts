import type { AnySessionEvent, EventInput } from '@session-persistence/core'
import type { CaseContext, CaseNeeds } from './conformance-case.ts'
import { type MappedLog, mapStoredLog } from './grown-log.ts'
import { storeSession } from './stored-events.ts'
import { plainMessage } from './workload.ts'

/** Damaging at every byte takes longer than a case usually may. */
export const MEDIUM: CaseNeeds = { tier: 'medium', timeoutMs: 110_000 }
/** Clauses about damage that only a checksum shows. */
export const CHECKED: CaseNeeds = { ...MEDIUM, capabilities: { integrity: ['checksum'] } }

/** A log small enough to damage at every byte: three batches, five events. */
export const BATCHES: readonly (readonly EventInput[])[] = [
  [message('one'), message('two')],
  [message('three')],
  [message('four'), message('five')],
]

export function message(text: string): EventInput {
  return { type: 'user/message', data: { message: plainMessage('user', text) } }
}

/** The small log, stored and closed, with the offsets of its batches. */
export async function storeMapped(context: CaseContext): Promise<MappedLog> {
  const persistence = await context.open()
  const log = await mapStoredLog(context, persistence, 's', BATCHES)
  await persistence.close()
  return log
}

/** The small log, stored and closed. */
export async function storeSmall(context: CaseContext): Promise<readonly AnySessionEvent[]> {
  const persistence = await context.open()
  const events = await storeSession(persistence, 's', BATCHES)
  await persistence.close()
  return events
}

/** Another letter in one place: damage that leaves length and lines as they were. */
export function damagedAt(bytes: Buffer, offset: number): Buffer {
  const damaged = Buffer.from(bytes)
  damaged[offset] = (bytes[offset] ?? 0) ^ 0x01
  return damaged
}

export function flippedAt(bytes: Buffer, offset: number, bit: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[offset] = (bytes[offset] ?? 0) ^ (1 << bit)
  return flipped
}

/** Every place in a full run, some in a quick one. */
export function stride(context: CaseContext, full: number, quick: number): number {
  return context.effort === 'full' ? full : quick
}
