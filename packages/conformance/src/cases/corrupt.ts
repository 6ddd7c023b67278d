import { basename } from 'node:path'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { damagedFacts, readDamaged, restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { locateStoredLog } from '../located-log.ts'
import { bytesOf, endsOf, flippedParts, type LogPart, zeroedParts } from '../log-parts.ts'
import { isEngineFile } from '../medium-files.ts'
import { places } from '../places.ts'
import { BATCHES, CHECKED, MEDIUM, message, storeMapped, storeSmall } from '../small-log.ts'
import { storeSession } from '../stored-events.ts'
import { storeAndDie } from '../tearable-log.ts'

/** Bits of a log of 2 KiB: all bits of the small log of these cases, whatever the format. */
const EVERY_BIT = 8 * 2_048
/** Flips of records: putting them back takes the engine of the medium a while. */
const EVERY_BIT_OF_RECORDS = 2_048
/** Lengths to which a file of many sessions is cut: both ends, the ends of its pages, and seeded ones between. */
const CUTS_OF_A_DATABASE = 1_024
/** Lengths to which a file of the engine is cut: the whole medium is put back after each. */
const ENGINE_CUTS = { full: 256, quick: 24 } as const
/** A flipped digit of the version is a version of its own. */
const FLIPPED = ['CORRUPT', 'UNSUPPORTED_VERSION'] as const

export const CORRUPT_CASES: readonly ConformanceCase[] = casesOf('CORRUPT', {
  1: {
    title:
      'A file cut at any byte reads as an exact prefix, then the end or CORRUPT; never as other data, and no reader writes.',
    why: 'Files end anywhere after a crash of the machine.',
    needs: MEDIUM,
    run: async (context) => {
      const { listsFiles, records } = context.medium
      if (!listsFiles) context.skip('the medium has no `files`')
      const original = await storeSmall(context)
      const whole = await restMedium(context)
      for (const [path, bytes] of whole.files) {
        for (const length of places(context, bytes.length, records === undefined ? undefined : CUTS_OF_A_DATABASE)) {
          whole.damage(path, bytes.subarray(0, length))
          const what = `${basename(path)} cut at ${length}`
          await readDamaged(context, { id: 's', paths: [path], original, codes: ['CORRUPT'], what })
        }
        await whole.restore()
      }
      if (context.medium.isEngineFile === undefined || !context.spawns) return
      // What a killed process leaves to the engine: the last batches may be nowhere else.
      const { resting, events } = await storeAndDie(context, 'crashed')
      for (const [path, bytes] of resting.files) {
        if (!isEngineFile(context.medium, path)) continue
        for (const length of places(context, bytes.length, ENGINE_CUTS[context.effort])) {
          resting.damage(path, bytes.subarray(0, length))
          const what = `${basename(path)} cut at ${length}`
          await readDamaged(context, { id: 'crashed', original: events, codes: ['CORRUPT', 'NOT_FOUND'], what })
          await resting.restore()
        }
      }
    },
  },
  2: {
    title:
      'A flipped bit reads as the same events, or as an exact prefix with CORRUPT; before the last batch never as a silent end.',
    why: 'Disks and memory flip bits; nearly half of such flips pass a plain JSON parser.',
    needs: CHECKED,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      const { length } = bytesOf(log.parts)
      const lastBatch = endsOf(log.parts).at(-2) ?? 0
      const most = log.path === undefined ? EVERY_BIT_OF_RECORDS : EVERY_BIT
      for (const place of places(context, 8 * length, most)) {
        const [offset, bit] = [Math.floor(place / 8), place % 8]
        await log.store(flippedParts(log.parts, offset, bit))
        const what = `bit ${bit} of byte ${offset}`
        const read = await readDamaged(context, { ...damagedFacts(log), codes: FLIPPED, what })
        const silent = read.error === undefined && read.events.length < log.events.length
        expectThat(!silent || offset >= lastBatch, `${what}: ${read.events.length} events, then a silent end`)
      }
      await resting.restore()
    },
  },
  3: {
    title: 'A run of NULs in the middle is CORRUPT after an exact prefix; at the very end it is an exact prefix.',
    why: 'Delayed allocation leaves NULs where data was promised.',
    needs: CHECKED,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      const { parts, events, batches } = log
      const [first = 0, second = 0, end = 0] = endsOf(parts)
      const facts = { ...damagedFacts(log), codes: ['CORRUPT'] } as const
      for (const [from, to] of [
        [first, second],
        [first + 3, first + 20],
        [second - 8, second],
      ] as const) {
        await log.store(zeroedParts(parts, from, to))
        const read = await readDamaged(context, { ...facts, what: `NULs from ${from} to ${to}` })
        expectEqual(read.error?.code, 'CORRUPT', `NULs from ${from} to ${to} in the middle`)
      }
      await log.store(zeroedParts(parts, second, end))
      const cut = await readDamaged(context, { ...facts, what: 'the last batch all NUL' })
      expectThat(cut.events.length >= (batches[0]?.length ?? 0), 'NULs at the end took earlier batches with them')
      await log.store([...parts, [Buffer.alloc(700)]])
      const grown = await readDamaged(context, { ...facts, what: '700 NULs after the end' })
      expectEqual(grown.events, events, 'events before NULs after the end')
      await resting.restore()
    },
  },
  4: {
    title: 'The logs of two sessions swapped, whole or by one batch, are CORRUPT, never read as each other.',
    why: 'Synchronising folders mixes files.',
    needs: CHECKED,
    run: async (context) => {
      const persistence = await context.open()
      const log = await locateStoredLog(context, persistence, 's', BATCHES)
      const longer = BATCHES.map((batch) => [message('x'), ...batch])
      const other = await locateStoredLog(context, persistence, 'other', longer)
      await persistence.close()
      const resting = await restMedium(context, [log, other])
      await log.store(other.parts)
      await other.store(log.parts)
      for (const one of [log, other]) {
        const what = `session ${one.id}, swapped`
        const { error } = await readDamaged(context, { ...damagedFacts(one), codes: ['CORRUPT'], what })
        expectEqual(error?.code, 'CORRUPT', `reading ${one.id} after the swap`)
      }
      await resting.restore()
      await expectForeignBatchNoticed(context)
    },
  },
  5: {
    title:
      'A batch that stands twice never yields an event twice. In the middle it is CORRUPT to read; at the end to read or to go on with, and verify names it.',
    why: 'A retry after an unknown outcome writes a batch again.',
    needs: CHECKED,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      const [first = [], second = [], third = []] = log.parts
      const facts = { ...damagedFacts(log), codes: ['CORRUPT'] } as const
      await log.store([first, second, second, third])
      const middle = await readDamaged(context, { ...facts, what: 'a middle batch twice' })
      expectEqual(middle.error?.code, 'CORRUPT', 'a middle batch twice')
      await log.store([first, second, third, third])
      const end = await readDamaged(context, { ...facts, what: 'the last batch twice' })
      if (end.error === undefined) expectEqual(end.events, log.events, 'events before the last batch twice')
      const persistence = await context.open()
      const { ok, problems } = await persistence.verify('s')
      expectEqual([ok, problems[0]?.code], [false, 'CORRUPT'], 'verify of the last batch twice')
      await expectRefusal(() => persistence.resume('s'), 'CORRUPT', 'resume of the last batch twice')
      await persistence.close()
      await resting.restore()
    },
  },
  6: {
    title: 'A batch cut out of the middle is CORRUPT, with the seq that was expected and the seq that was found.',
    why: 'Lost history must not be numbered over.',
    needs: MEDIUM,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      const [first = [], , third = []] = log.parts
      await log.store([first, third])
      const { error } = await readDamaged(context, {
        ...damagedFacts(log),
        codes: ['CORRUPT'],
        what: 'a missing batch',
      })
      const expected = log.batches[0]?.length ?? 0
      expectEqual([error?.expected, error?.found], [expected, expected + 1], 'seq expected and seq found')
      const persistence = await context.open()
      const refused = await expectRefusal(() => persistence.resume('s'), 'CORRUPT', 'resume of a log with a hole')
      expectEqual([refused.expected, refused.found], [expected, expected + 1], 'seqs that resume names')
      await persistence.close()
      await resting.restore()
    },
  },
  7: {
    title:
      'A damaged session is an entry of the list with state damaged and its error, last; every other session is as before.',
    why: 'One bad file has hidden all sessions before.',
    needs: MEDIUM,
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 'a', BATCHES)
      const log = await locateStoredLog(context, persistence, 'hurt', BATCHES)
      await storeSession(persistence, 'z', BATCHES)
      const sound = (await persistence.list()).sessions.filter(({ id }) => id !== 'hurt')
      await persistence.close()
      const resting = await restMedium(context, [log])
      const damages: Readonly<Record<string, readonly LogPart[]>> = {
        'an empty file': log.parts.map((part) => part.map(() => Buffer.alloc(0))),
        garbage: [[Buffer.from('not a log at all\n')]],
        'a damaged header': flippedParts(log.parts, 4),
      }
      for (const [what, damaged] of Object.entries(damages)) {
        await log.store(damaged)
        const again = await context.open()
        const { sessions } = await again.list()
        expectEqual(
          sessions.filter(({ id }) => id !== 'hurt'),
          sound,
          `other sessions, with ${what}`,
        )
        const last = sessions.at(-1)
        expectEqual([last?.id, last?.state, last?.error?.code], ['hurt', 'damaged', 'CORRUPT'], `entry with ${what}`)
        expectEqual(
          (await again.list({ filter: { state: 'damaged' } })).sessions.length,
          1,
          `damaged ones, with ${what}`,
        )
        await again.close()
      }
      await resting.restore()
    },
  },
})

/** A batch of another session that has the same seqs stands in the place of its own: the numbers do not tell it. */
async function expectForeignBatchNoticed(context: CaseContext): Promise<void> {
  const persistence = await context.open()
  const log = await locateStoredLog(context, persistence, 'host', BATCHES)
  const guests = BATCHES.map((batch) => batch.map((_, index) => message(`guest ${index}`)))
  const guest = await locateStoredLog(context, persistence, 'guest', guests)
  await persistence.close()
  const [first = [], second, third = []] = log.parts
  const foreign = guest.parts[1]
  if (second === undefined || foreign === undefined) return
  const resting = await restMedium(context, [log, guest])
  await log.store([first, foreign, third])
  const { error } = await readDamaged(context, {
    ...damagedFacts(log),
    codes: ['CORRUPT'],
    what: 'a batch of another session',
  })
  expectEqual(error?.code, 'CORRUPT', 'reading a log with a batch of another session in it')
  await resting.restore()
}
