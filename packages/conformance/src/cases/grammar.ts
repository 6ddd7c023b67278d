import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import {
  asks,
  call,
  chunk,
  execution,
  inputOf,
  type Line,
  one,
  result,
  sent,
  step,
  stepEnd,
  turn,
  turnEnd,
  two,
  typesOf,
  user,
} from '../event-lines.ts'
import { expectEqual, expectRefusal } from '../expectation.ts'
import { appendUntyped, contentOf, storedEvents } from '../stored-events.ts'

/** Orders of events: accepted as a whole, or refused at the last line only. */
interface Orders {
  readonly accepted: readonly (readonly Line[])[]
  readonly refused: readonly (readonly Line[])[]
}

export const GRAMMAR_CASES: readonly ConformanceCase[] = casesOf('GRAMMAR', {
  1: {
    title: 'Turns do not nest and are numbered 1, 2, 3, ...; a turn ends only once and only when it is open.',
    why: 'Counting turns is how a harness finds its place after a crash.',
    run: ordersAre({
      accepted: [[turn(1), turnEnd(1), turn(2), turnEnd(2)]],
      refused: [
        [turn(1), turn(2)],
        [turn(2)],
        [turn(0)],
        [turn(1), turnEnd(1), turn(1)],
        [turn(1), turnEnd(1), turn(3)],
        [turnEnd(1)],
        [turn(1), turnEnd(2)],
        [turn(1), turnEnd(1), turnEnd(1)],
      ],
    }),
  },
  2: {
    title: 'Steps lie in turns, do not nest, restart at 1 in each turn and continue.',
    why: 'One step is one model answer and the tools that it asked for.',
    run: ordersAre({
      accepted: [
        [turn(1), step(1, 1), stepEnd(1, 1), step(1, 2), stepEnd(1, 2), turnEnd(1), turn(2), step(2, 1), stepEnd(2, 1)],
      ],
      refused: [
        [step(1, 1)],
        [turn(1), step(1, 2)],
        [turn(1), step(2, 1)],
        [turn(1), step(1, 1), step(1, 2)],
        [turn(1), step(1, 1), stepEnd(1, 1), step(1, 1)],
        [turn(1), stepEnd(1, 1)],
        [turn(1), step(1, 1), stepEnd(1, 2)],
        [turn(1), step(1, 1), stepEnd(1, 1), turnEnd(1), turn(2), step(2, 2)],
      ],
    }),
  },
  3: {
    title: 'Messages, calls and headers are accepted outside a turn and outside a step, turn and step then absent.',
    why: 'Imported logs and simple harnesses have no turns.',
    run: ordersAre({
      accepted: [
        [['request/header', { model: 'm' }], user(), asks({}, 'a'), call({}, 'a'), result({}, 'a'), asks({})],
        [turn(1), user({ turn: 1 }), asks({ turn: 1 }, 'a'), result({ turn: 1 }, 'a'), turnEnd(1)],
      ],
      refused: [[user({ turn: 1 })], [turn(1), user({ turn: 2 })], [turn(1), user({ turn: 1, step: 1 })]],
    }),
  },
  4: {
    title:
      'A chunk and `request/sent` lie in a step; one step may hold several requests, and chunks before any request.',
    why: 'A retry in a step is one more request; imported logs have chunks only.',
    run: ordersAre({
      accepted: [
        [turn(1), step(1, 1), sent(one, 1), chunk(one), sent(one, 2), chunk(one), asks(one)],
        [turn(1), step(1, 1), chunk(one), chunk(one)],
      ],
      refused: [
        [chunk(one)],
        [turn(1), chunk(one)],
        [turn(1), sent(one, 1)],
        [turn(1), step(1, 1), stepEnd(1, 1), chunk(one)],
      ],
    }),
  },
  5: {
    title: 'A turn does not end with an open step, and no second answer comes in a step while calls are open.',
    why: 'Providers refuse a conversation in which a call has no result.',
    run: ordersAre({
      accepted: [[turn(1), step(1, 1), asks(one, 'a'), result(one, 'a'), asks(one), stepEnd(1, 1), turnEnd(1)]],
      refused: [
        [turn(1), step(1, 1), turnEnd(1)],
        [turn(1), step(1, 1), asks(one, 'a'), asks(one)],
      ],
    }),
  },
  6: {
    title:
      'A `tool/call` is for a call that the answer asked for, once; `tool/execution` comes after it; a result needs neither.',
    why: 'What was begun decides what is safe to run again.',
    run: ordersAre({
      accepted: [
        [turn(1), step(1, 1), asks(one, 'a'), result(one, 'a')],
        [turn(1), step(1, 1), asks(one, 'a'), call(one, 'a'), execution(one, 'a'), result(one, 'a'), stepEnd(1, 1)],
      ],
      refused: [
        [turn(1), step(1, 1), asks(one, 'a'), call(one, 'b')],
        [turn(1), step(1, 1), asks(one, 'a'), call(one, 'a'), call(one, 'a')],
        [turn(1), step(1, 1), asks(one, 'a'), execution(one, 'a')],
        [turn(1), step(1, 1), call(one, 'a')],
      ],
    }),
  },
  7: {
    title:
      'A result answers an open call, in any order; a call id is unique in its step and may come again in another.',
    why: 'Parallel calls return when they return; some providers number calls from 0 each time.',
    run: ordersAre({
      accepted: [
        [
          turn(1),
          step(1, 1),
          asks(one, 'a', 'b', 'c'),
          result(one, 'c'),
          result(one, 'a'),
          result(one, 'b'),
          stepEnd(1, 1),
        ],
        [
          turn(1),
          step(1, 1),
          asks(one, 'a'),
          result(one, 'a'),
          stepEnd(1, 1),
          step(1, 2),
          asks(two, 'a'),
          result(two, 'a'),
        ],
      ],
      refused: [
        [turn(1), step(1, 1), asks(one, 'a'), result(one, 'b')],
        [turn(1), step(1, 1), asks(one, 'a'), result(one, 'a'), result(one, 'a')],
        [turn(1), step(1, 1), asks(one, 'a', 'a')],
        [turn(1), step(1, 1), asks(one, 'a'), result(one, 'a'), asks(one, 'a')],
      ],
    }),
  },
  8: {
    title: 'No step ends, no turn ends and no user message is added while calls are open.',
    why: 'The next request would be refused by the provider, for ever.',
    run: ordersAre({
      accepted: [[turn(1), asks({ turn: 1 }, 'a'), result({ turn: 1 }, 'a'), user({ turn: 1 }), turnEnd(1)]],
      refused: [
        [turn(1), step(1, 1), asks(one, 'a'), stepEnd(1, 1)],
        [turn(1), asks({ turn: 1 }, 'a'), turnEnd(1)],
        [turn(1), step(1, 1), asks(one, 'a'), user(one)],
      ],
    }),
  },
  9: {
    title: 'A replace or remove names a run of live surface events by their seqs; sources name earlier events.',
    why: 'A compaction of what is not there would delete other history.',
    run: async (context) => {
      const replace = (start: number, end: number): Line => [
        ...(user({}, 'new') as [string, unknown]),
        { surface: { replace: [start, end] } },
      ]
      await ordersAre({
        accepted: [
          [user(), user(), replace(0, 1), replace(2, 2)],
          [user(), user(), ['surface/remove', { start: 0, end: 0 }], replace(1, 1)],
        ],
        refused: [
          [user(), replace(0, 1)],
          [user(), user(), replace(0, 0), replace(0, 1)],
          [user(), user(), replace(1, 0)],
          [user(), ['request/header', { model: 'm' }], replace(1, 1)],
          [user(), ['surface/remove', { start: 1, end: 1 }]],
          [user(), ['surface/remove', { start: 0, end: 0 }], ['surface/remove', { start: 0, end: 0 }]],
          [user(), [...(user() as [string, unknown]), { sources: [[0, 1]] }]],
          [user(), [...(user() as [string, unknown]), { sources: [[1, 0]] }]],
        ],
      })(context)
    },
  },
})

/** Each order on a session of its own: every line up to the last is accepted, and the last one as said. */
function ordersAre({ accepted, refused }: Orders): (context: CaseContext) => Promise<void> {
  return async (context) => {
    const persistence = await context.open()
    for (const [index, lines] of accepted.entries()) {
      const session = await persistence.create({ id: `accepted-${index}` })
      for (const [type, data, options] of lines) appendUntyped(session, type, data, options)
      await session.flush()
      const stored = await storedEvents(persistence, session.id)
      expectEqual(stored.map(contentOf), lines.map(inputOf), `stored: ${typesOf(lines)}`)
      await session.close()
    }
    for (const lines of refused) {
      const session = await persistence.create()
      for (const [type, data, options] of lines.slice(0, -1)) appendUntyped(session, type, data, options)
      const before = session.nextSeq
      const [type, data, options] = lines.at(-1) ?? turn(1)
      await expectRefusal(
        () => appendUntyped(session, type, data, options),
        'INVALID_EVENT',
        `the last of ${typesOf(lines)}`,
      )
      expectEqual(session.nextSeq, before, `nextSeq after the refusal in ${typesOf(lines)}`)
      await session.abandon()
    }
  }
}
