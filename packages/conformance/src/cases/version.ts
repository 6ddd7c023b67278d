import type { AnySessionEvent, LogSource, SessionPersistence } from '@session-persistence/core'
import { CATALOG } from '../case-catalog.ts'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { bytesNow, expectUnchanged } from '../damage.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendUntyped, storedEvents, storeSession } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

const NEWER = 999

export const VERSION_CASES: readonly ConformanceCase[] = casesOf('VERSION', {
  1: {
    title:
      'A log of a newer format is refused on import with UNSUPPORTED_VERSION, found and supported version named; nothing is stored.',
    why: 'A program that guesses at a newer format damages it.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const source = await persistence.exportLog('s')
      const newer: LogSource = { header: { ...source.header, id: 'newer', version: NEWER }, events: source.events }
      const error = await expectRefusal(
        () => persistence.importLog(newer),
        'UNSUPPORTED_VERSION',
        'importing a newer log',
      )
      expectEqual([error.found, error.expected], [NEWER, source.header.version], 'version found and version supported')
      expectEqual(
        (await persistence.list()).sessions.map(({ id }) => id),
        ['s'],
        'sessions',
      )
    },
  },
  2: {
    title:
      'A stored log of a newer format is refused on read, inspect, resume, annotate and fork before anything is written; the list shows it as newer.',
    why: 'An older program appended old records to a newer file.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const { stampVersion } = context.medium
      if (stampVersion === undefined) return context.skip('the medium has no `stampVersion`')
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      await storeSession(persistence, 'other', [turnEvents(1)])
      const supported = (await persistence.inspect('s')).header.version
      await persistence.close()
      context.note(`the kit: stampVersion("s", ${NEWER})`)
      await stampVersion('s', NEWER)
      const before = await bytesNow(context)
      const again = await context.open()
      const calls: readonly (readonly [string, () => unknown])[] = [
        ['read', () => storedEvents(again, 's')],
        ['inspect', () => again.inspect('s')],
        ['resume', () => again.resume('s')],
        ['annotate', () => again.annotate('s', { title: 'x' })],
        ['fork', () => again.fork('s', { id: 'child' })],
      ]
      for (const [name, call] of calls) {
        const error = await expectRefusal(call, 'UNSUPPORTED_VERSION', name)
        expectEqual([error.found, error.expected], [NEWER, supported], `versions named by ${name}`)
      }
      const { sessions } = await again.list()
      expectEqual(
        sessions.map(({ id, state }) => [id, state]),
        [
          ['other', 'ready'],
          ['s', 'newer'],
        ],
        'list',
      )
      await again.close()
      await expectUnchanged(context, before, 'after refusals')
    },
  },
  3: {
    title:
      'A log with a required type that this program does not know can be read and inspected, and the view names the type.',
    why: 'A missing plugin must not hide a conversation.',
    run: async (context) => {
      const events = await storeUnknown(context)
      const persistence = await context.open()
      expectEqual(await storedEvents(persistence, 's'), events, 'events read')
      const view = await persistence.inspect('s')
      expectEqual(view.unknownTypes, ['acme/rule'], 'unknown types of the view')
      expectEqual(view.messages(), ['after'], 'messages of the view')
      expectEqual((await persistence.verify('s')).unknownTypes, ['acme/rule'], 'unknown types of verify')
    },
  },
  4: {
    title:
      'Resuming it is refused with UNKNOWN_EVENT, unless the type is in the catalog or the caller preserves what it does not know.',
    why: 'Going on without understanding may contradict what the log says.',
    run: async (context) => {
      const events = await storeUnknown(context)
      const persistence = await context.open()
      const error = await expectRefusal(() => persistence.resume('s'), 'UNKNOWN_EVENT', 'a resume without the catalog')
      expectThat(error.message.includes('acme/rule'), 'the error does not name the type')
      expectEqual(await storedEvents(persistence, 's'), events, 'events after the refusal')
      const preserving = await persistence.resume('s', { preserveUnknown: true })
      preserving.append('user/message', { message: 'more' })
      await preserving.close()
      expectEqual((await storedEvents(persistence, 's')).slice(0, events.length), events, 'events preserved')
      await (await (await context.open({ events: CATALOG })).resume('s')).close()
    },
  },
  5: {
    title: 'Unknown ignorable types do not keep a session from being resumed, and stay in the log.',
    why: 'A decoration of one plugin is not a reason to lock a session.',
    run: async (context) => {
      const writer = await context.open({ events: CATALOG })
      const session = await writer.create({ id: 's' })
      appendUntyped(session, 'acme/note', { text: 'a note' })
      session.append('user/message', { message: 'hello' })
      await session.close()
      const persistence = await context.open()
      const events = await storedEvents(persistence, 's')
      const resumed = await persistence.resume('s')
      resumed.append('user/message', { message: 'more' })
      await resumed.close()
      const stored = await storedEvents(persistence, 's')
      expectEqual(stored.slice(0, events.length), events, 'events that were there')
      expectEqual(stored[0]?.ignorable, true, 'the ignorable mark')
    },
  },
  6: {
    title: 'Unknown types survive fork, export and import untouched.',
    why: 'A tool that drops what it does not know loses other people’s data.',
    run: async (context) => {
      const events = await storeUnknown(context)
      const persistence = await context.open()
      const child = await persistence.fork('s', { id: 'child' })
      await child.close()
      expectEqual((await storedEvents(persistence, 'child')).slice(0, events.length), events, 'events of a fork')
      const target: SessionPersistence = await (await context.newMedium()).open()
      await target.importLog(await persistence.exportLog('s'))
      expectEqual(await storedEvents(target, 's'), events, 'events of an import')
    },
  },
})

/** A stored session with a required and an ignorable extension event, written with their catalog. */
async function storeUnknown(context: CaseContext): Promise<readonly AnySessionEvent[]> {
  const writer = await context.open({ events: CATALOG })
  const session = await writer.create({ id: 's' })
  appendUntyped(session, 'acme/rule', { n: 1 })
  appendUntyped(session, 'acme/note', { text: 'a note' })
  session.append('user/message', { message: 'after' })
  await session.close()
  return storedEvents(writer, 's')
}
