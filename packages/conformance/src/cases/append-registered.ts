import type { AnySessionEvent, EventInput } from '@session-persistence/core'
import { CATALOG } from '../case-catalog.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, appendUntyped, contentOf, storedEvents } from '../stored-events.ts'
import { plainMessage, turnEvents } from '../workload.ts'

export const APPEND_REGISTERED_CASES: readonly ConformanceCase[] = casesOf('APPEND', {
  12: {
    title:
      'A type that is neither core nor in the catalog is refused with UNKNOWN_EVENT; one in the catalog is stamped as it says.',
    why: 'What a reader would not know bricks a session.',
    run: async (context) => {
      const persistence = await context.open({ events: CATALOG })
      const session = await persistence.create({ id: 's' })
      await expectRefusal(() => appendUntyped(session, 'acme/other', {}), 'UNKNOWN_EVENT', 'a type of nobody')
      await expectRefusal(
        () => appendUntyped(session, 'user/mesage', {}),
        ['UNKNOWN_EVENT', 'INVALID_EVENT'],
        'a typing error',
      )
      appendUntyped(session, 'acme/note', { any: 'thing' })
      appendUntyped(session, 'acme/rule', { n: 1 })
      await session.close()
      const stored = await storedEvents(persistence, 's')
      expectEqual(
        stored.map(({ type, ignorable }) => [type, ignorable ?? false]),
        [
          ['acme/note', true],
          ['acme/rule', false],
        ],
        'types and their ignorable mark',
      )
    },
  },
  13: {
    title:
      'A schema of the catalog runs at append: what fails it is INVALID_EVENT, and the input is stored, not its output.',
    why: 'A transformed value is not what the harness said.',
    run: async (context) => {
      const persistence = await context.open({ events: CATALOG })
      const session = await persistence.create({ id: 's' })
      await expectRefusal(
        () => appendUntyped(session, 'acme/rule', { n: 'one' }),
        'INVALID_EVENT',
        'data that fails its schema',
      )
      appendUntyped(session, 'acme/rule', { n: 5 })
      await session.close()
      expectEqual((await storedEvents(persistence, 's'))[0]?.data, { n: 5 }, 'stored data')
      // A changed schema cannot brick what is stored.
      const stricter = {
        validate: () => ({ issues: [{ message: 'never' }] }),
        version: 1,
        vendor: 'conformance',
      } as const
      const changed = { ...CATALOG, 'acme/rule': { ignorable: false, schema: { '~standard': stricter } } }
      const again = await context.open({ events: changed })
      await (await again.resume('s')).close()
      expectEqual((await storedEvents(again, 's'))[0]?.data, { n: 5 }, 'data read under a stricter schema')
    },
  },
  14: {
    title: 'Listeners hear every accepted event once, in order, before append returns, until they unsubscribe.',
    why: 'A user interface shows what was accepted.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const heard: AnySessionEvent[] = []
      const unsubscribe = session.subscribe((event) => heard.push(event))
      const events = [...appendEach(session, turnEvents(1)), ...session.appendAll(turnEvents(2))]
      expectEqual(heard, events, 'events heard when append returned')
      unsubscribe()
      appendEach(session, turnEvents(3))
      expectEqual(heard.length, events.length, 'events heard after unsubscribing')
    },
  },
  15: {
    title: 'The redaction hook changes an event before anything sees or stores it.',
    why: 'A secret that was stored once is stored for ever.',
    run: async (context) => {
      const redact = (_: string, data: unknown): unknown =>
        JSON.parse(JSON.stringify(data).replaceAll('s3cret', 'redacted'))
      const persistence = await context.open({ redact })
      const session = await persistence.create({ id: 's' })
      const event = session.append('user/message', { message: 'my key is s3cret' })
      expectEqual(event.data, { message: 'my key is redacted' }, 'event returned')
      expectEqual(session.messages(), ['my key is redacted'], 'live messages')
      await session.close()
      const stored = JSON.stringify(await storedEvents(persistence, 's'))
      expectThat(!stored.includes('s3cret'), 'the secret is in the stored log')
    },
  },
  16: {
    title: 'Envelope fields `surface` and `sources` come back as they were given.',
    why: 'A compaction is only understood with the range that it replaces.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const events: EventInput[] = [
        { type: 'user/message', data: { message: plainMessage('user', 'one') } },
        { type: 'user/message', data: { message: plainMessage('user', 'two') } },
        {
          type: 'user/message',
          data: { message: plainMessage('user', 'summary') },
          surface: { replace: [0, 1] },
          sources: [[0, 1]],
        },
      ]
      session.appendAll(events)
      await session.close()
      const stored = await storedEvents(persistence, 's')
      expectEqual(stored.map(contentOf), events.map(contentOf), 'stored events')
      expectEqual((await persistence.inspect('s')).messages(), [plainMessage('user', 'summary')], 'messages')
    },
  },
})
