import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { AnySessionEvent } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { bytesNow, expectUnchanged, readDamaged, restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { places } from '../places.ts'
import { CHECKED, damagedAt, flippedAt, MEDIUM, message, storeMapped, storeSmall, stride } from '../small-log.ts'
import { appendEach, receiptOf, storedEvents, withoutResumed } from '../stored-events.ts'

/** Flips tried in one file of any layout. */
const FLIPS_A_FILE = 1_024
/** A name or a version that was hit is another name or version. */
const FLIPPED_ANYWHERE = ['CORRUPT', 'UNSUPPORTED_VERSION', 'NOT_FOUND'] as const

export const CORRUPT_WRITING_CASES: readonly ConformanceCase[] = casesOf('CORRUPT', {
  8: {
    title:
      'Resuming, annotating or forking a log that is damaged before its last batch is refused with CORRUPT, and nothing is written.',
    why: 'A failed read that led to a write has replaced a session by an empty one.',
    needs: CHECKED,
    run: async (context) => {
      const { path, ends } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      for (const offset of [2, (ends[0] ?? 0) + 10, Math.floor(((ends[0] ?? 0) + (ends[1] ?? 0)) / 2)]) {
        resting.damage(path, damagedAt(bytes, offset))
        const before = await bytesNow(context)
        const persistence = await context.open()
        const calls: readonly (readonly [string, () => unknown])[] = [
          ['resume', () => persistence.resume('s')],
          ['annotate', () => persistence.annotate('s', { title: 'x' })],
          ['fork', () => persistence.fork('s')],
        ]
        for (const [name, call] of calls) await expectRefusal(call, 'CORRUPT', `${name} with damage at ${offset}`)
        await persistence.close()
        await expectUnchanged(context, before, `after refusals with damage at ${offset}`)
      }
      await resting.restore()
    },
  },
  9: {
    title: 'A CORRUPT error names the byte offset, or the seq, of the damage, and the session.',
    why: 'A repair begins with the place.',
    needs: CHECKED,
    run: async (context) => {
      const { path, ends, events } = await storeMapped(context)
      const resting = await restMedium(context)
      const [first = 0, second = 0] = ends
      resting.damage(path, damagedAt(resting.files.get(path) ?? Buffer.alloc(0), first + 12))
      const facts = { id: 's', path, original: events, codes: ['CORRUPT'], what: 'a damaged batch' } as const
      const { error } = await readDamaged(context, facts)
      expectEqual(error?.sessionId, 's', 'session named')
      const inRange = error?.offset !== undefined && error.offset >= first && error.offset <= second
      expectThat(
        inRange || error?.seq === 2,
        `neither offset ${error?.offset} nor seq ${error?.seq} leads to the damage`,
      )
      await resting.restore()
    },
  },
  10: {
    title:
      'A last batch that ends in mid-record is torn: a resume keeps every earlier batch, reports what it cut, and goes on.',
    why: 'A crash tears only the last, unacknowledged write.',
    needs: MEDIUM,
    run: async (context) => {
      const { path, ends, batches, events } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      const [, second = 0, end = 0] = ends
      const earlier = events.slice(0, (batches[0]?.length ?? 0) + (batches[1]?.length ?? 0))
      for (let length = second + 1; length < end - 1; length += stride(context, 1, 29)) {
        resting.damage(path, bytes.subarray(0, length))
        const persistence = await context.open()
        const session = await persistence.resume('s')
        const { torn, survived } = session.recovery ?? {}
        expectEqual(survived, earlier.length, `events that survived a cut at ${length}`)
        expectEqual(torn?.bytes, length - second, `bytes reported as torn at ${length}`)
        const [added] = appendEach(session, [message('after the crash')])
        await session.close()
        expectEqual(
          withoutResumed(await storedEvents(persistence, 's')),
          [...earlier, added],
          `events after a cut at ${length}`,
        )
        const again = await persistence.resume('s')
        expectEqual(again.recovery?.torn, undefined, `torn bytes at a second resume after a cut at ${length}`)
        await persistence.close()
        await resting.restore()
      }
    },
  },
  11: {
    title: 'Torn bytes that a resume cut are kept, byte for byte, where the report says.',
    why: 'They may be all that is left of an answer.',
    needs: MEDIUM,
    run: async (context) => {
      const { path, ends } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      const [, second = 0, end = 0] = ends
      const length = Math.floor((second + end) / 2)
      resting.damage(path, bytes.subarray(0, length))
      const session = await (await context.open()).resume('s')
      const keptAt = session.recovery?.torn?.keptAt
      expectThat(keptAt !== undefined, 'the report does not say where the torn bytes are')
      const kept = readFileSync(keptAt)
      expectThat(
        kept.equals(bytes.subarray(second, length)),
        `the ${kept.length} bytes kept are not those that were cut`,
      )
      await session.close()
    },
  },
  12: {
    title: 'A suffix lost at a batch boundary is found by the head receipt, by verify and by resume.',
    why: 'The log itself cannot show it.',
    needs: MEDIUM,
    run: async (context) => {
      const { path, ends, events } = await storeMapped(context)
      const expectHead = receiptOf(events)
      expectThat(expectHead !== undefined, 'the log is empty')
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      for (const end of ends.slice(0, -1)) {
        resting.damage(path, bytes.subarray(0, end))
        const persistence = await context.open()
        const report = await persistence.verify('s', { expectHead })
        expectEqual([report.ok, report.problems[0]?.code], [false, 'CORRUPT'], `verify of a log cut at ${end}`)
        await expectRefusal(() => persistence.resume('s', { expectHead }), 'CORRUPT', `resume of a log cut at ${end}`)
        await persistence.close()
        await resting.restore()
      }
    },
  },
  13: {
    title: 'Verify names the damage, writes nothing, and calls a sound log sound.',
    why: 'A check that a user can run before trusting a copy.',
    needs: CHECKED,
    run: async (context) => {
      const { path, ends, events } = await storeMapped(context)
      const resting = await restMedium(context)
      resting.damage(path, damagedAt(resting.files.get(path) ?? Buffer.alloc(0), (ends[0] ?? 0) + 12))
      const before = await bytesNow(context)
      const persistence = await context.open()
      const report = await persistence.verify('s')
      expectEqual([report.ok, report.problems[0]?.code], [false, 'CORRUPT'], 'verify of a damaged log')
      await expectUnchanged(context, before, 'after verify')
      await resting.restore()
      const sound = await persistence.verify('s')
      expectEqual([sound.ok, sound.events, sound.problems], [true, events.length, []], 'verify of the sound log')
      await persistence.close()
    },
  },
  14: {
    title: 'Repair is a dry run by default, keeps the original, salvages what can be proven, and says what is lost.',
    why: 'A repair that guesses or overwrites is a second damage.',
    needs: { ...MEDIUM, capabilities: { repair: ['salvage'] } },
    run: async (context) => {
      const { path, ends, batches } = await storeMapped(context)
      const resting = await restMedium(context)
      resting.damage(path, damagedAt(resting.files.get(path) ?? Buffer.alloc(0), (ends[0] ?? 0) + 12))
      const before = await bytesNow(context)
      const persistence = await context.open()
      const plan = await persistence.repair('s')
      expectEqual([plan.dryRun, plan.lost.length > 0], [true, true], 'the dry run')
      await expectUnchanged(context, before, 'after a dry run')
      const done = await persistence.repair('s', { dryRun: false })
      expectEqual([done.dryRun, done.kept], [false, plan.kept], 'the repair')
      expectThat(plan.kept >= (batches[0]?.length ?? 0), 'less than the sound prefix was salvaged')
      const original = before.get(path) ?? Buffer.alloc(0)
      const kept = [...(await bytesNow(context)).values()].some((bytes) => bytes.equals(original))
      expectThat(kept, 'the damaged original is nowhere')
      const salvaged: readonly AnySessionEvent[] = await storedEvents(persistence, 's')
      expectEqual(salvaged.slice(0, batches[0]?.length ?? 0), batches[0] ?? [], 'the sound prefix')
      await (await persistence.resume('s')).close()
      await persistence.close()
    },
  },
  15: {
    title:
      'A flipped bit in any file of the medium, however it is laid out: the same events, an exact prefix, or a typed refusal; no reader writes.',
    why: 'Indexes, side files and free pages are damaged as well, and a store must not believe them.',
    needs: CHECKED,
    run: async (context) => {
      const original = await storeSmall(context)
      const resting = await restMedium(context)
      for (const [path, bytes] of resting.files) {
        for (const place of places(context, 8 * bytes.length, FLIPS_A_FILE)) {
          const [offset, bit] = [Math.floor(place / 8), place % 8]
          resting.damage(path, flippedAt(bytes, offset, bit))
          const what = `bit ${bit} of byte ${offset} of ${basename(path)}`
          await readDamaged(context, { id: 's', path, original, codes: FLIPPED_ANYWHERE, what })
        }
        await resting.restore()
      }
    },
  },
})
