// Proves that no mutation of a log, aware of its structure or not, gives wrong data, an untyped error, or a hang; and
// that what repair makes of it is sound.
import { type AnySessionEvent, isSessionError, LOST_EVENT_TYPE } from '@session-persistence/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryFileSystem } from '../../jsonl/test/parts/memory-file-system.ts'
import { SAMPLE_BATCHES, SAMPLE_EVENTS, store } from '../../jsonl/test/parts/sample-log.ts'
import { SCALE } from '../../jsonl/test/parts/scale.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { logPath, unitsOf } from './parts/frame-log.ts'

type Mutation =
  | { readonly kind: 'set'; readonly at: number; readonly value: number }
  | {
      readonly kind: 'zero' | 'cut' | 'repeat' | 'move'
      readonly at: number
      readonly length: number
      readonly to: number
    }
  | { readonly kind: 'unit'; readonly from: number; readonly to: number; readonly drop: boolean }
  | { readonly kind: 'block'; readonly unit: number; readonly value: number }

const position = fc.nat(2000)
const mutations = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('set' as const), at: position, value: fc.nat(255) }),
    fc.record({
      kind: fc.constantFrom('zero' as const, 'cut' as const, 'repeat' as const, 'move' as const),
      at: position,
      length: fc.oneof(fc.nat(60), fc.nat(900)),
      to: position,
    }),
    fc.record({ kind: fc.constant('unit' as const), from: fc.nat(4), to: fc.nat(4), drop: fc.boolean() }),
    // Sizes and types of blocks, and descriptors: what a walk over frames follows.
    fc.record({ kind: fc.constant('block' as const), unit: fc.nat(4), value: fc.nat(0xffffffff) }),
  ),
  { minLength: 1, maxLength: 4 },
)

function mutated(whole: Buffer, changes: readonly Mutation[]): Buffer {
  let bytes: Buffer = Buffer.from(whole)
  const units = unitsOf(whole)
  const unit = (index: number): Buffer => whole.subarray(units[index]?.start, units[index]?.end)
  for (const change of changes) {
    if (change.kind === 'unit') {
      const at = units[change.to]?.start ?? 0
      const rest = change.drop ? (units[change.to]?.end ?? at) : at
      bytes = Buffer.concat([bytes.subarray(0, at), unit(change.from), bytes.subarray(rest)])
    } else if (change.kind === 'block') {
      const at = (units[change.unit]?.start ?? 0) + 4
      if (at + 4 <= bytes.length) bytes.writeUInt32LE(change.value, at)
    } else {
      const at = change.at % (bytes.length + 1)
      if (change.kind === 'set') bytes[at] = change.value
      else {
        const end = Math.min(bytes.length, at + change.length)
        const part = Buffer.from(bytes.subarray(at, end))
        if (change.kind === 'zero') bytes.fill(0, at, end)
        else if (change.kind === 'repeat') bytes = Buffer.concat([bytes.subarray(0, end), part, bytes.subarray(end)])
        else {
          const rest = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
          const to = change.to % (rest.length + 1)
          bytes = change.kind === 'cut' ? rest : Buffer.concat([rest.subarray(0, to), part, rest.subarray(to)])
        }
      }
    }
  }
  return bytes
}

async function given(storage: ReturnType<typeof jsonlZstdStorage>): Promise<readonly AnySessionEvent[]> {
  const events: AnySessionEvent[] = []
  try {
    const reader = await storage.openReader('s')
    try {
      for await (const page of reader.read({})) events.push(...(page as AnySessionEvent[]))
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
  }
  return events
}

it.each([false, true])(
  'mutated logs (sealed: %s) read as a prefix, or are refused',
  { timeout: 300_000 },
  async (sealed) => {
    const fileSystem = new MemoryFileSystem('/root')
    const path = logPath('/root', 's')
    const storage = jsonlZstdStorage({ root: '/root', fileSystem, newSalt: () => 0x9f86d081 })
    await store(storage, 's', SAMPLE_BATCHES)
    if (sealed) await storage.seal('s')
    const whole = fileSystem.bytes(path)
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        const bytes = mutated(whole, changes)
        fileSystem.set(path, bytes)
        const events = await given(storage)
        expect(events).toEqual(SAMPLE_EVENTS.slice(0, events.length))
        const check = await storage.check('s')
        if (check.problems.length === 0 && check.torn === undefined) expect(check.events).toBe(events.length)
        await storage.list({ limit: 2 })
        if (check.problems.length === 0) return
        const kept = await storage.repair?.('s', { dryRun: false }).catch((error: unknown) => {
          if (!isSessionError(error, 'CORRUPT')) throw error
        })
        if (kept === undefined) return
        expect(await storage.check('s')).toMatchObject({ problems: [], events: kept.kept })
        const salvaged = await given(storage)
        const isMade = (seq: number): boolean =>
          kept.lost.some(
            ({ message, from = seq, to = -1 }) => message.startsWith('the stand-in is') && from <= seq && seq <= to,
          )
        const originals = salvaged.filter(({ type, seq }) => type !== LOST_EVENT_TYPE && !isMade(seq))
        expect(originals).toEqual(originals.map(({ seq }) => SAMPLE_EVENTS[seq]))
      }),
      { numRuns: 1500 * SCALE, interruptAfterTimeLimit: 250_000 },
    )
  },
)
