import type { ConformanceCase } from '../conformance-case.ts'
import { bytesNow, damagedFacts, expectUnchanged, readDamaged, restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { endsOf, flippedParts } from '../log-parts.ts'
import { CHECKED, storeMapped } from '../small-log.ts'

export const CORRUPT_WRITING_CASES: readonly ConformanceCase[] = casesOf('CORRUPT', {
  8: {
    title:
      'Resuming, annotating or forking a log is refused with CORRUPT where it meets damage, and nothing is written: without a snapshot, anywhere before the last batch.',
    why: 'A failed read that led to a write has replaced a session by an empty one.',
    needs: CHECKED,
    run: async (context) => {
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      const [first = 0, second = 0] = endsOf(log.parts)
      for (const offset of [2, first + 10, Math.floor((first + second) / 2)]) {
        await log.store(flippedParts(log.parts, offset))
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
      const log = await storeMapped(context)
      const resting = await restMedium(context, [log])
      const [first = 0, second = 0] = endsOf(log.parts)
      await log.store(flippedParts(log.parts, first + 12))
      const facts = { ...damagedFacts(log), codes: ['CORRUPT'], what: 'a damaged batch' } as const
      const { error } = await readDamaged(context, facts)
      expectEqual(error?.sessionId, 's', 'session named')
      const { offset, seq } = error ?? {}
      const isInRange = log.path !== undefined && offset !== undefined && offset >= first && offset <= second
      expectThat(
        isInRange || seq === log.batches[0]?.length,
        `neither offset ${offset} nor seq ${seq} leads to the damage`,
      )
      await resting.restore()
    },
  },
})
