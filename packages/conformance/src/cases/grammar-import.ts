import type { AnySessionEvent, SessionHeader } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { asks, type Line, one, result, step, stepEnd, turn, turnEnd, typesOf, user } from '../event-lines.ts'
import { expectEqual, expectRefusal } from '../expectation.ts'
import { storedEvents } from '../stored-events.ts'
export const GRAMMAR_IMPORT_CASES: readonly ConformanceCase[] = casesOf('GRAMMAR', {
  10: {
    title: 'An imported log is held to the same grammar; what it refuses stores nothing.',
    why: 'What append refuses, resume would refuse, and the other way round.',
    run: async (context) => {
      const persistence = await context.open()
      const broken: readonly (readonly Line[])[] = [
        [turn(1), turn(2)],
        [turn(1), step(1, 1), asks(one, 'a'), stepEnd(1, 1)],
        [user(), ['surface/remove', { start: 1, end: 1 }]],
      ]
      for (const [index, lines] of broken.entries()) {
        const source = logOf(`broken-${index}`, lines)
        await expectRefusal(() => persistence.importLog(source), 'INVALID_EVENT', `importing ${typesOf(lines)}`)
      }
      expectEqual((await persistence.list()).sessions, [], 'sessions after refused imports')
      const whole = [turn(1), step(1, 1), asks(one, 'a'), result(one, 'a'), stepEnd(1, 1), turnEnd(1)]
      await persistence.importLog(logOf('whole', whole))
      expectEqual((await storedEvents(persistence, 'whole')).length, whole.length, 'events of an accepted import')
    },
  },
  11: {
    title: 'An imported log with a missing or repeated seq is refused, naming the seq expected and the seq found.',
    why: 'A hole in a log is lost history, not something to number over.',
    run: async (context) => {
      const persistence = await context.open()
      const lines = [user(), user(), user(), user(), user()]
      for (const [name, found] of [
        ['gap', 4],
        ['repeat', 2],
      ] as const) {
        const log = logOf(name, lines, (seq) => (seq === 3 ? found : seq))
        const error = await expectRefusal(
          () => persistence.importLog(log),
          ['INVALID_EVENT', 'CORRUPT'],
          `a log with a ${name}`,
        )
        expectEqual([Number(error.expected), Number(error.found)], [3, found], `seqs named for a ${name}`)
      }
      expectEqual((await persistence.list()).sessions, [], 'sessions after refused imports')
    },
  },
})

/** A log for `importLog`, its seqs changed by `renumber`. */
function logOf(
  id: string,
  lines: readonly Line[],
  renumber: (seq: number) => number = (seq) => seq,
): { readonly header: SessionHeader; readonly events: AsyncIterable<readonly AnySessionEvent[]> } {
  const header: SessionHeader = { version: 1, id, createdAt: 1, messageFormat: 'plain' }
  const events = lines.map(
    ([type, data, options], seq): AnySessionEvent => ({ seq: renumber(seq), time: seq, type, data, ...options }),
  )
  async function* pages(): AsyncGenerator<readonly AnySessionEvent[]> {
    yield events
  }
  return { header, events: pages() }
}
