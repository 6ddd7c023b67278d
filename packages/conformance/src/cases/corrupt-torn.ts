import { existsSync, readFileSync } from 'node:fs'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import type { LocatedLog } from '../located-log.ts'
import { MEDIUM, message, storeMapped } from '../small-log.ts'
import { appendEach, receiptOf, storedEvents, withoutResumed } from '../stored-events.ts'
import { storeAndDie, storeTearable } from '../tearable-log.ts'

/** Lengths tried inside the last batch: each is two resumes and a close, of a whole engine where that takes it back. */
const TORN = { full: 256, quick: 8 } as const
const TAKEN_BACK = { full: 64, quick: 8 } as const

export const CORRUPT_TORN_CASES: readonly ConformanceCase[] = casesOf('CORRUPT', {
  10: {
    title:
      'A last batch that ends in mid-record is torn: a resume keeps every earlier batch, reports what it cut, and goes on. What the engine of the medium takes back itself is gone whole.',
    why: 'A crash tears only the last, unacknowledged write.',
    needs: MEDIUM,
    run: async (context) => {
      const { path, bytes, ends, batches, events, takenBack } = await storeTearable(context)
      const resting = await restMedium(context)
      const [, second = 0, end = 0] = ends
      const earlier = events.slice(0, (batches[0]?.length ?? 0) + (batches[1]?.length ?? 0))
      for (const length of lengthsBetween(second + 1, end - 1, (takenBack ? TAKEN_BACK : TORN)[context.effort])) {
        resting.damage(path, bytes.subarray(0, length))
        const persistence = await context.open()
        const session = await persistence.resume('s')
        const { torn, survived } = session.recovery ?? {}
        expectEqual(survived, earlier.length, `events that survived a cut at ${length}`)
        expectEqual(torn?.bytes, takenBack ? undefined : length - second, `bytes reported as torn at ${length}`)
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
    title:
      'Torn bytes that a resume cut are kept, byte for byte, where the report says; a resume that reports none cuts no event that could be read.',
    why: 'They may be all that is left of an answer.',
    needs: MEDIUM,
    run: async (context) => {
      const { path, bytes, ends, takenBack } = await storeTearable(context)
      const resting = await restMedium(context)
      const [, second = 0, end = 0] = ends
      const length = Math.floor((second + end) / 2)
      resting.damage(path, bytes.subarray(0, length))
      const persistence = await context.open()
      const readable = await storedEvents(persistence, 's')
      const session = await persistence.resume('s')
      expectEqual(session.recovery?.survived, readable.length, 'events that survived, of those that could be read')
      const keptAt = session.recovery?.torn?.keptAt
      if (takenBack && session.recovery?.torn === undefined) return session.close()
      expectThat(keptAt !== undefined, 'the report does not say where the torn bytes are')
      // A path that the backend names: that nothing is there is its fault.
      expectThat(existsSync(keptAt), 'the report names a file that is not there')
      const kept = readFileSync(keptAt)
      const isSame = kept.equals(bytes.subarray(second, length))
      expectThat(isSame, `the ${kept.length} bytes kept are not those that were cut`)
      await session.close()
    },
  },
  12: {
    title: 'A suffix lost at a batch boundary is found by the head receipt, by verify and by resume.',
    why: 'The log itself cannot show it.',
    needs: MEDIUM,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      for (const count of [1, 2]) {
        await log.store(log.parts.slice(0, count))
        await expectLossFound(context, log, `a log cut to ${count} batches`)
        await resting.restore()
      }
      if (context.medium.isEngineFile === undefined || !context.spawns) return
      const crashed = await storeAndDie(context, 'crashed')
      const { path, ends, events } = crashed
      if (path === undefined) return
      const bytes = crashed.resting.files.get(path) ?? Buffer.alloc(0)
      for (const end of ends.slice(0, -1)) {
        crashed.resting.damage(path, bytes.subarray(0, end))
        await expectLossFound(context, { id: 'crashed', events }, `the file of the engine cut at ${end}`)
        await crashed.resting.restore()
      }
    },
  },
})

async function expectLossFound(
  context: CaseContext,
  { id, events }: Pick<LocatedLog, 'id' | 'events'>,
  what: string,
): Promise<void> {
  const expectHead = receiptOf(events)
  expectThat(expectHead !== undefined, 'the log is empty')
  const persistence = await context.open()
  const report = await persistence.verify(id, { expectHead })
  expectEqual([report.ok, report.problems[0]?.code], [false, 'CORRUPT'], `verify of ${what}`)
  await expectRefusal(() => persistence.resume(id, { expectHead }), 'CORRUPT', `resume of ${what}`)
  await persistence.close()
}

function lengthsBetween(from: number, to: number, most: number): readonly number[] {
  const step = Math.max(1, Math.ceil((to - from) / most))
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step)
}
