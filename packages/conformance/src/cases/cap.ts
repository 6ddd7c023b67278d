import { CAPABILITY_LEVELS } from '../capability-levels.ts'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { restMedium } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { mapStoredLog } from '../located-log.ts'
import { endsOf, flippedAt, flippedParts } from '../log-parts.ts'
import { appendEach, storedEvents, storeSession } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

export const CAP_CASES: readonly ConformanceCase[] = casesOf('CAP', {
  1: {
    title:
      'The description is frozen data: name, version, one level of each capability, effective modes; the same at every opening.',
    why: 'A harness chooses by it, and a report shows it.',
    run: async (context) => {
      const { description } = await context.open()
      expectThat(description.name !== '' && description.version !== '', 'name or version is empty')
      for (const part of [description, description.capabilities, description.modes]) {
        expectThat(Object.isFrozen(part), 'the description is not deeply frozen')
      }
      for (const [capability, levels] of Object.entries(CAPABILITY_LEVELS)) {
        const level = (description.capabilities as unknown as Readonly<Record<string, unknown>>)[capability]
        expectThat((levels as readonly unknown[]).includes(level), `${capability} is '${String(level)}'`)
      }
      for (const [mode, value] of Object.entries(description.modes)) {
        expectThat(typeof value === 'string', `mode ${mode} is not a string`)
      }
      expectEqual((await context.open()).description, description, 'description at a second opening')
    },
  },
  2: {
    title:
      'Repair does what it declares: `none` refuses with NOT_SUPPORTED, `salvage` finds nothing to do in a sound log.',
    why: 'A call that is not there must say so.',
    observes: 'repair',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      if (context.capabilities.repair === 'none') {
        await expectRefusal(() => persistence.repair('s'), 'NOT_SUPPORTED', 'repair')
      } else {
        const plan = await persistence.repair('s').catch(() => undefined)
        expectThat(plan !== undefined, 'repair was refused')
        expectEqual([plan.dryRun, plan.kept, plan.lost], [true, events.length, []], 'repair of a sound log')
      }
      expectEqual(await storedEvents(persistence, 's'), events, 'events after repair')
    },
  },
  3: {
    title: 'Exclusion holds within what it declares, at least between two handles on one medium.',
    why: 'A lock that is only declared is worse than none.',
    observes: 'exclusion',
    run: async (context) => {
      const [first, second] = [await context.open(), await context.open()]
      const session = await first.create({ id: 's' })
      appendEach(session, turnEvents(1))
      await session.flush()
      const error = await expectRefusal(() => second.resume('s'), 'LOCKED', 'a second writer')
      expectThat(error.message.length > 0, 'the refusal has no message')
    },
  },
  4: {
    title: 'Durability `process` or `power` is observed: what was flushed by a process that was killed is there.',
    why: 'Declared is checked against observed.',
    needs: { tier: 'process', capabilities: { durability: ['process', 'power'] } },
    observes: 'durability',
    run: async (context) => {
      const worker = context.spawn({ kind: 'write', id: 's', turns: 1 })
      for (let count = 0; count < 4; count += 1) await worker.next()
      await worker.kill()
      const events = await storedEvents(await context.open(), 's')
      expectThat(events.length >= 4, `${events.length} events of 4 that were flushed`)
    },
  },
  5: {
    title: 'Follow declared `host` sees what another process writes.',
    why: 'A second window is a second process.',
    needs: { tier: 'process', capabilities: { follow: ['host'] } },
    observes: 'follow',
    run: async (context) => {
      const persistence = await context.open()
      const stored = await storeSession(persistence, 's', [[{ type: 'session/title', data: { title: 'x' } }]])
      const followed = persistence.follow('s')[Symbol.asyncIterator]()
      expectEqual((await followed.next()).value, stored[0], 'the stored event')
      context.spawn({ kind: 'write', id: 's', turns: 1, resume: true })
      for (const seq of [1, 2, 3, 4, 5]) {
        const { value } = await followed.next()
        expectEqual((value as { readonly seq?: number }).seq, seq, 'seq of an event of another process')
      }
      await followed.return?.()
    },
  },
  6: {
    title: 'Integrity `checksum` is observed: a changed letter in a stored message is noticed.',
    why: 'Declared is checked against observed.',
    needs: { tier: 'medium', capabilities: { integrity: ['checksum'] } },
    observes: 'integrity',
    run: async (context) => {
      const id = await changeLetter(context)
      const again = await context.open()
      await expectRefusal(() => storedEvents(again, id), 'CORRUPT', 'a read of a changed letter')
      expectEqual((await again.verify(id)).ok, false, 'verify of a changed letter')
      await again.close()
    },
  },
})

/**
 * Changes one stored letter of a message; the id of the session that it is in. Where no text is stored as it is, any
 * byte of a first batch does as well.
 */
async function changeLetter(context: CaseContext): Promise<string> {
  const marked = [{ type: 'user/message', data: { message: 'marked-with-a-word' } }] as const
  const persistence = await context.open()
  await storeSession(persistence, 's', [marked, turnEvents(1)])
  await persistence.close()
  const resting = await restMedium(context)
  for (const [path, bytes] of resting.files) {
    const offset = bytes.indexOf('marked-with-a-word')
    if (offset === -1) continue
    resting.damage(path, flippedAt(bytes, offset, 0))
    return 's'
  }
  const again = await context.open()
  const { parts, store } = await mapStoredLog(context, again, 'mapped', [marked, turnEvents(1)])
  await again.close()
  await store(flippedParts(parts, Math.floor((endsOf(parts)[0] ?? 0) * 0.7)))
  return 'mapped'
}
