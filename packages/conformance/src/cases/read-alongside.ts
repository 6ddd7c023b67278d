import type { AnySessionEvent, ReadOptions } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat, rejectionOf } from '../expectation.ts'
import { filesOf, mtimesOf } from '../medium-files.ts'
import { appendEach, collect, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import { conversation, turnEvents } from '../workload.ts'

/** Reads beside writers, aborted reads, follow, inspect, and what a reader must leave. */
export const READ_ALONGSIDE_CASES: readonly ConformanceCase[] = casesOf('READ', {
  8: {
    title: 'A read that runs while a writer appends yields a contiguous run: no event twice, none skipped, none half.',
    why: 'A viewer is open while the agent works.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const before = appendEach(session, conversation(20))
      await session.flush()
      const seen: AnySessionEvent[] = []
      let turn = 20
      for await (const event of persistence.read('s')) {
        seen.push(event)
        if (event.seq % 24 !== 0 || turn >= 30) continue
        turn += 1
        appendEach(session, turnEvents(turn))
        await session.flush()
      }
      expectEqual(
        seen.map(({ seq }) => seq),
        seen.map((_, index) => index),
        'seqs seen',
      )
      expectEqual(seen.slice(0, before.length), before, 'events stored before the read began')
    },
  },
  9: {
    title: 'A read with an aborted signal rejects with the signal’s own reason, before its first event.',
    why: 'Callers tell their own cancellations from failures by identity.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const reason = new Error('the user left')
      const signal = AbortSignal.abort(reason)
      const calls: readonly (readonly [string, () => unknown])[] = [
        ['read', () => storedEvents(persistence, 's', { signal })],
        ['inspect', () => persistence.inspect('s', { signal })],
        ['list', () => persistence.list({ signal })],
        ['verify', () => persistence.verify('s', { signal })],
        ['follow', () => collect(persistence.follow('s', { signal }))],
      ]
      for (const [name, call] of calls) {
        expectThat((await rejectionOf(call, name)) === reason, `${name} did not reject with the signal's reason`)
      }
    },
  },
  10: {
    title: 'An abort in the middle of a read rejects the next step with the signal’s own reason.',
    why: 'A long read must stop when its user leaves.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [conversation(5)])
      const [abort, reason] = [new AbortController(), new Error('the user left')]
      let seen = 0
      const error = await rejectionOf(async () => {
        for await (const _ of persistence.read('s', { signal: abort.signal })) {
          seen += 1
          if (seen === 3) abort.abort(reason)
        }
      }, 'an aborted read')
      expectThat(error === reason, 'the read did not reject with the reason')
      expectEqual(seen, 3, 'events seen')
    },
  },
  11: {
    title: 'Two reads of one session at once do not disturb each other.',
    why: 'A shared position would mix two views of one session.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2)])
      const [left, right] = [persistence.read('s'), persistence.read('s', { reverse: true })]
      const [a, b] = [left[Symbol.asyncIterator](), right[Symbol.asyncIterator]()]
      for (let index = 0; index < events.length; index += 1) {
        expectEqual((await a.next()).value, events[index], `event ${index} forwards`)
        expectEqual((await b.next()).value, events[events.length - 1 - index], `event ${index} backwards`)
      }
      expectEqual([(await a.next()).done, (await b.next()).done], [true, true], 'the ends of both')
    },
  },
  12: {
    title: 'A session’s own read yields its durable events only.',
    why: 'What is shown as stored must be stored.',
    run: async (context) => {
      const persistence = await context.open({ writeWindowMs: 200 })
      const session = await persistence.create({ id: 's' })
      const durable = appendEach(session, turnEvents(1))
      await session.flush()
      const reading = collect(session.read())
      appendEach(session, turnEvents(2))
      expectEqual(await reading, durable, 'events of the session’s own read')
    },
  },
  13: {
    title: 'Follow yields the stored events, then what is written, in order, and ends when the session is deleted.',
    why: 'A second window shows a conversation while it happens.',
    run: async (context) => {
      const [writer, reader] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const events = [...appendEach(session, turnEvents(1))]
      await session.flush()
      const followed = reader.follow('s')[Symbol.asyncIterator]()
      for (const event of events) expectEqual((await followed.next()).value, event, `stored event ${event.seq}`)
      const more = appendEach(session, turnEvents(2))
      await session.flush()
      for (const event of more) expectEqual((await followed.next()).value, event, `event ${event.seq} written later`)
      await session.close()
      await writer.delete('s')
      expectEqual((await followed.next()).done, true, 'the end after delete')
    },
  },
  14: {
    title: 'Follow begins where it is told, and an abort ends its waiting with the signal’s own reason.',
    why: 'A viewer reconnects at the seq that it has seen.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      const [abort, reason] = [new AbortController(), new Error('the user left')]
      const followed = persistence.follow('s', { from: 9, signal: abort.signal })[Symbol.asyncIterator]()
      for (const event of events.slice(9)) expectEqual((await followed.next()).value, event, `event ${event.seq}`)
      let settled = false
      const next = followed.next().finally(() => {
        settled = true
      })
      // Settled here, so that a follow that ends instead of waiting fails below and nowhere else.
      const waiting = rejectionOf(() => next, 'waiting for more').catch((violation: unknown) => violation)
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      expectThat(!settled, 'follow did not wait at the end of what is stored')
      abort.abort(reason)
      expectThat((await waiting) === reason, 'follow did not reject with the reason')
    },
  },
  15: {
    title: 'Inspect at a seq shows the session as it stood after that event.',
    why: 'A user looks back before rewinding.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [conversation(3)])
      const message = (event: AnySessionEvent): unknown => (event.data as { readonly message?: unknown }).message
      for (const at of [1, 6, 11, 20, 35]) {
        const view = await persistence.inspect('s', { at })
        const messages = events.slice(0, at + 1).map(message)
        expectEqual(
          view.messages(),
          messages.filter((one) => one !== undefined),
          `messages at ${at}`,
        )
        expectEqual(view.nextSeq, at + 1, `nextSeq at ${at}`)
      }
    },
  },
  16: {
    title: 'Reading, inspecting, listing, verifying and exporting change no byte and no modification time.',
    why: 'Looking at a session must not make it look changed, nor damage it further.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1), turnEvents(2).slice(0, 4)])
      await persistence.close()
      const before = [await filesOf(context.medium), await mtimesOf(context.medium)]
      const reader = await context.open()
      await storedEvents(reader, 's')
      await reader.inspect('s')
      await reader.list()
      await reader.verify('s')
      for await (const _ of (await reader.exportLog('s')).events) break
      await reader.close()
      expectEqual([await filesOf(context.medium), await mtimesOf(context.medium)], before, 'files after reading')
    },
  },
  17: {
    title: 'A second writer continues where the first one stopped, and its first own event says that it resumed.',
    why: 'Whoever reads a log later must see where one process ended and the next began.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      const idle = await persistence.resume('s')
      await idle.close()
      expectEqual(await storedEvents(persistence, 's'), events, 'events after a resume that appended nothing')
      const session = await persistence.resume('s', { writer: 'writer-2' })
      const appended = appendEach(session, turnEvents(2))
      await session.close()
      const stored = await storedEvents(persistence, 's')
      const marker = stored[events.length]
      expectEqual([marker?.type, marker?.data], ['session/resumed', { writer: 'writer-2' }], 'first own event')
      expectEqual(withoutResumed(stored), [...events, ...appended], 'all other events')
    },
  },
  18: {
    title: 'Pages hold what a read of the same range yields, in its order, none of them empty, and end as it does.',
    why: 'Whoever replays a long log takes whole pages, and must not get another log.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [
        conversation(40),
        turnEvents(41),
        turnEvents(42).slice(0, 3),
      ])
      const session = await persistence.resume('s', { openTurn: 'keep' })
      for (const [name, reader] of [
        ['the persistence', (options?: ReadOptions) => persistence.readPages('s', options)],
        ['the session', (options?: ReadOptions) => session.readPages(options)],
      ] as const) {
        const pages = await collect(reader())
        expectEqual(pages.flat(), events, `all pages of ${name}`)
        expectThat(!pages.some((page) => page.length === 0), `${name} gave an empty page`)
        const range = { from: 5, to: events.length - 4 }
        const part = events.slice(5, -3)
        expectEqual((await collect(reader(range))).flat(), part, `pages of a range of ${name}`)
        const reversed = (await collect(reader({ ...range, reverse: true }))).flat()
        expectEqual(reversed, part.toReversed(), `reversed pages of ${name}`)
        expectEqual(await collect(reader({ from: events.length })), [], `pages past the end of ${name}`)
        const reason = new Error('the user left')
        const aborted = await rejectionOf(() => collect(reader({ signal: AbortSignal.abort(reason) })), name)
        expectThat(aborted === reason, `pages of ${name} did not reject with the signal's reason`)
        for await (const _ of reader()) break
      }
      await session.close()
      await expectRefusal(() => collect(persistence.readPages('missing')), 'NOT_FOUND', 'pages of a missing session')
      expectEqual(await persistence.delete('s'), true, 'delete after pages were left early')
    },
  },
})
