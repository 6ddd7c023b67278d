import { basename } from 'node:path'
import type { AnySessionEvent, EventInput } from '@session-persistence/core'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { bytesNow, expectUnchanged, readDamaged, restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectThat } from '../expectation.ts'
import { type LocatedLog, mapStoredLog } from '../located-log.ts'
import { bytesOf, endsOf, flippedAt, flippedParts } from '../log-parts.ts'
import { isEngineFile } from '../medium-files.ts'
import { places } from '../places.ts'
import { CHECKED, MEDIUM, storeMapped, storeSmall } from '../small-log.ts'
import { storedEvents } from '../stored-events.ts'
import { storeAndDie } from '../tearable-log.ts'
import { plainMessage } from '../workload.ts'

/** Flips tried in one file of any layout. */
const FLIPS_A_FILE = 1_024
/** And in one of the engine's, which the whole medium is put back after. */
const FLIPS_AN_ENGINE_FILE = { full: 256, quick: 24 } as const
/** A name or a version that was hit is another name or version. */
const FLIPPED_ANYWHERE = ['CORRUPT', 'UNSUPPORTED_VERSION', 'NOT_FOUND'] as const

const CALL = { callId: 'a', name: 'send_mail', arguments: { to: 'team' } }
/** A call is asked for in one batch and begun in the next, which is the last. */
const CALL_BATCHES: readonly (readonly EventInput[])[] = [
  [
    { type: 'turn/start', data: { turn: 1 } },
    { type: 'assistant/message', data: { turn: 1, message: plainMessage('assistant', 'sending'), toolCalls: [CALL] } },
  ],
  [{ type: 'tool/call', data: { turn: 1, ...CALL } }],
]

export const CORRUPT_REPAIR_CASES: readonly ConformanceCase[] = casesOf('CORRUPT', {
  13: {
    title: 'Verify names the damage, writes nothing, and calls a sound log sound.',
    why: 'A check that a user can run before trusting a copy.',
    needs: CHECKED,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      await log.store(flippedParts(log.parts, (endsOf(log.parts)[0] ?? 0) + 12))
      const before = await bytesNow(context)
      const damaged = await context.open()
      const report = await damaged.verify('s')
      expectEqual([report.ok, report.problems[0]?.code], [false, 'CORRUPT'], 'verify of a damaged log')
      await damaged.close()
      await expectUnchanged(context, before, 'after verify')
      await resting.restore()
      const persistence = await context.open()
      const sound = await persistence.verify('s')
      expectEqual([sound.ok, sound.events, sound.problems], [true, log.events.length, []], 'verify of the sound log')
      await persistence.close()
    },
  },
  14: {
    title: 'Repair is a dry run by default, keeps the original, salvages what can be proven, and says what is lost.',
    why: 'A repair that guesses or overwrites is a second damage.',
    needs: { ...MEDIUM, capabilities: { repair: ['salvage'] } },
    run: async (context) => {
      const log = await storeMapped(context)
      const [first = []] = log.batches
      const damaged = flippedParts(log.parts, (endsOf(log.parts)[0] ?? 0) + 12)
      await log.store(damaged)
      const before = await bytesNow(context)
      const dry = await context.open()
      const plan = await dry.repair('s')
      expectEqual(plan.dryRun, true, 'the dry run')
      await dry.close()
      await expectUnchanged(context, before, 'after a dry run')
      const persistence = await context.open()
      const done = await persistence.repair('s', { dryRun: false })
      expectEqual([done.dryRun, done.kept], [false, plan.kept], 'the repair')
      expectThat(plan.kept >= first.length, 'less than the sound prefix was salvaged')
      await persistence.close()
      expectThat(done.originalAt !== undefined, 'the repair does not say where the original is')
      expectThat(await isKept(context, log, bytesOf(damaged)), 'the damaged original is nowhere')
      const again = await context.open()
      const salvaged: readonly AnySessionEvent[] = await storedEvents(again, 's')
      expectEqual(salvaged.slice(0, first.length), first, 'the sound prefix')
      // Checksums may put a flipped bit right.
      if (plan.lost.length === 0) expectEqual(salvaged, log.events, 'a log of which nothing is said to be lost')
      await (await again.resume('s')).close()
      await again.close()
    },
  },
  15: {
    title:
      'A flipped bit in any file of the medium, however it is laid out: the same events, an exact prefix, or a typed refusal; no reader writes.',
    why: 'Indexes, side files and free pages are damaged as well, and a store must not believe them.',
    needs: CHECKED,
    run: async (context) => {
      if (!context.medium.listsFiles) context.skip('the medium has no `files`')
      const original = await storeSmall(context)
      const resting = await restMedium(context)
      for (const [path, bytes] of resting.files) {
        for (const [flipped, what] of flipsOf(context, path, bytes, FLIPS_A_FILE)) {
          resting.damage(path, flipped)
          await readDamaged(context, { id: 's', paths: [path], original, codes: FLIPPED_ANYWHERE, what })
        }
        await resting.restore()
      }
      if (context.medium.isEngineFile === undefined || !context.spawns) return
      const crashed = await storeAndDie(context, 'crashed')
      for (const [path, bytes] of crashed.resting.files) {
        if (!isEngineFile(context.medium, path)) continue
        for (const [flipped, what] of flipsOf(context, path, bytes, FLIPS_AN_ENGINE_FILE[context.effort])) {
          crashed.resting.damage(path, flipped)
          await readDamaged(context, { id: 'crashed', original: crashed.events, codes: FLIPPED_ANYWHERE, what })
          await crashed.resting.restore()
        }
      }
    },
  },
  16: {
    title:
      'After a repair, no call whose start may be lost is `not-started`, not even where the log ends before that start.',
    why: 'A harness runs again what was never started, and this may have run.',
    needs: { ...MEDIUM, capabilities: { integrity: ['checksum'], repair: ['salvage'] } },
    run: async (context) => {
      const storing = await context.open()
      const log = await mapStoredLog(context, storing, 's', CALL_BATCHES)
      await storing.close()
      await log.store(flippedParts(log.parts, (endsOf(log.parts)[0] ?? 0) + 12))
      const persistence = await context.open()
      await persistence.repair('s', { dryRun: false })
      const view = await persistence.inspect('s')
      const session = await persistence.resume('s')
      const unknown = [['a', 'outcome-unknown']]
      for (const calls of [view.openCalls(), session.recovery?.openCalls ?? []]) {
        expectEqual(
          calls.map(({ callId, tier }) => [callId, tier]),
          unknown,
          'open calls and tiers of a log whose last batch, the start of the call, was damaged',
        )
      }
      await session.close()
      await persistence.close()
    },
  },
})

/**
 * Whether the damaged log is still somewhere on the medium: its bytes where it is a file; where it is records, the text
 * of the event that could not be proven, which a repaired log does not hold. What is told by neither counts as kept.
 */
async function isKept(context: CaseContext, { path, events }: LocatedLog, original: Buffer): Promise<boolean> {
  if (!context.medium.listsFiles) return true
  const files = [...(await bytesNow(context)).values()]
  if (path !== undefined) return files.some((bytes) => bytes.equals(original))
  const isInText = (text: string): boolean => files.some((bytes) => bytes.includes(text))
  // Compressed or encoded: no text of the log is to be seen.
  return !isInText('"four"') || events.length === 0 || isInText('"three"')
}

function* flipsOf(
  context: CaseContext,
  path: string,
  bytes: Buffer,
  most: number,
): Generator<readonly [flipped: Buffer, what: string]> {
  for (const place of places(context, 8 * bytes.length, most)) {
    const [offset, bit] = [Math.floor(place / 8), place % 8]
    yield [flippedAt(bytes, offset, bit), `bit ${bit} of byte ${offset} of ${basename(path)}`]
  }
}
