import type { ConformanceCase } from '../conformance-case.ts'
import { readDamaged, restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { locateStoredLog } from '../grown-log.ts'
import { places } from '../places.ts'
import { BATCHES, CHECKED, damagedAt, flippedAt, MEDIUM, message, storeMapped, storeSmall } from '../small-log.ts'
import { storeSession } from '../stored-events.ts'

/** Bits of a log of 2 KiB: all bits of the small log of these cases, whatever the format. */
const EVERY_BIT = 8 * 2_048
/** A flipped digit of the version is a version of its own. */
const FLIPPED = ['CORRUPT', 'UNSUPPORTED_VERSION'] as const

export const CORRUPT_CASES: readonly ConformanceCase[] = casesOf('CORRUPT', {
  1: {
    title:
      'A file cut at any byte reads as an exact prefix, then the end or CORRUPT; never as other data, and no reader writes.',
    why: 'Files end anywhere after a crash of the machine.',
    needs: MEDIUM,
    run: async (context) => {
      const original = await storeSmall(context)
      const resting = await restMedium(context)
      for (const [path, bytes] of resting.files) {
        for (const length of places(context, bytes.length)) {
          resting.damage(path, bytes.subarray(0, length))
          await readDamaged(context, { id: 's', path, original, codes: ['CORRUPT'], what: `cut at ${length}` })
        }
        await resting.restore()
      }
    },
  },
  2: {
    title:
      'A flipped bit reads as the same events, or as an exact prefix with CORRUPT; before the last batch never as a silent end.',
    why: 'Disks and memory flip bits; nearly half of such flips pass a plain JSON parser.',
    needs: CHECKED,
    run: async (context) => {
      const { path, ends, events } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      const lastBatch = ends.at(-2) ?? 0
      for (const place of places(context, 8 * bytes.length, EVERY_BIT)) {
        const [offset, bit] = [Math.floor(place / 8), place % 8]
        resting.damage(path, flippedAt(bytes, offset, bit))
        const what = `bit ${bit} of byte ${offset}`
        const read = await readDamaged(context, { id: 's', path, original: events, codes: FLIPPED, what })
        const silent = read.error === undefined && read.events.length < events.length
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
      const { path, ends, events, batches } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      const [first = 0, second = 0, end = 0] = ends
      const zeroed = (from: number, to: number): Buffer => Buffer.from(bytes).fill(0, from, to)
      const facts = { id: 's', path, original: events, codes: ['CORRUPT'] } as const
      for (const [from, to] of [
        [first, second],
        [first + 3, first + 20],
        [second - 8, second],
      ] as const) {
        resting.damage(path, zeroed(from, to))
        const read = await readDamaged(context, { ...facts, what: `NULs from ${from} to ${to}` })
        expectEqual(read.error?.code, 'CORRUPT', `NULs from ${from} to ${to} in the middle`)
      }
      resting.damage(path, zeroed(second, end))
      const cut = await readDamaged(context, { ...facts, what: 'the last batch all NUL' })
      expectThat(cut.events.length >= (batches[0]?.length ?? 0), 'NULs at the end took earlier batches with them')
      resting.damage(path, Buffer.concat([bytes, Buffer.alloc(700)]))
      const grown = await readDamaged(context, { ...facts, what: '700 NULs after the end' })
      expectEqual(grown.events, events, 'events before NULs after the end')
      await resting.restore()
    },
  },
  4: {
    title: 'The files of two sessions swapped are CORRUPT, never read as each other.',
    why: 'Synchronising folders mixes files.',
    needs: CHECKED,
    run: async (context) => {
      const persistence = await context.open()
      const log = await locateStoredLog(context, persistence, 's', BATCHES)
      const other = await locateStoredLog(
        context,
        persistence,
        'other',
        BATCHES.map((batch) => [message('x'), ...batch]),
      )
      await persistence.close()
      const resting = await restMedium(context)
      resting.damage(log.path, resting.files.get(other.path) ?? Buffer.alloc(0))
      resting.damage(other.path, resting.files.get(log.path) ?? Buffer.alloc(0))
      for (const [id, { path, events }] of [
        ['s', log],
        ['other', other],
      ] as const) {
        const facts = { id, path, original: events, codes: ['CORRUPT'], what: `session ${id}, swapped` } as const
        expectEqual((await readDamaged(context, facts)).error?.code, 'CORRUPT', `reading ${id} after the swap`)
      }
      await resting.restore()
    },
  },
  5: {
    title: 'A batch that stands twice, in the middle or at the end, never yields an event twice, and is CORRUPT.',
    why: 'A retry after an unknown outcome writes a batch again.',
    needs: CHECKED,
    run: async (context) => {
      const { path, ends, events } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      const [first = 0, second = 0, end = 0] = ends
      const middle = Buffer.concat([bytes.subarray(0, second), bytes.subarray(first, second), bytes.subarray(second)])
      const facts = { id: 's', path, original: events, codes: ['CORRUPT'] } as const
      resting.damage(path, middle)
      const inMiddle = await readDamaged(context, { ...facts, what: 'a middle batch twice' })
      expectEqual(inMiddle.error?.code, 'CORRUPT', 'a middle batch twice')
      resting.damage(path, Buffer.concat([bytes, bytes.subarray(second, end)]))
      const atEnd = await readDamaged(context, { ...facts, what: 'the last batch twice' })
      expectEqual(atEnd.error?.code, 'CORRUPT', 'the last batch twice')
      await resting.restore()
    },
  },
  6: {
    title: 'A batch cut out of the middle is CORRUPT, with the seq that was expected and the seq that was found.',
    why: 'Lost history must not be numbered over.',
    needs: MEDIUM,
    run: async (context) => {
      const { path, ends, events, batches } = await storeMapped(context)
      const resting = await restMedium(context)
      const bytes = resting.files.get(path) ?? Buffer.alloc(0)
      const [first = 0, second = 0] = ends
      const holed = Buffer.concat([bytes.subarray(0, first), bytes.subarray(second)])
      resting.damage(path, holed)
      const facts = { id: 's', path, original: events, codes: ['CORRUPT'], what: 'a missing batch' } as const
      const { error } = await readDamaged(context, facts)
      const expected = batches[0]?.length ?? 0
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
      const resting = await restMedium(context)
      const bytes = resting.files.get(log.path) ?? Buffer.alloc(0)
      const damages = {
        'an empty file': Buffer.alloc(0),
        garbage: Buffer.from('not a log at all\n'),
        'a damaged header': damagedAt(bytes, 4),
      }
      for (const [what, damaged] of Object.entries(damages)) {
        resting.damage(log.path, damaged)
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
