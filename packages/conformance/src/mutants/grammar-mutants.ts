import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import { changedAppend, type Mutant, pretendedEvent } from './mutant.ts'

/** Pretends to accept what append refuses with INVALID_EVENT, where `forgives` says so. */
function lenient(
  name: string,
  wrong: string,
  aimedAt: string,
  forgives: (type: string, options: object | undefined) => boolean,
): Mutant {
  return {
    name,
    wrong,
    aimedAt,
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        try {
          return append(type, data, options)
        } catch (error) {
          if (!isSessionError(error, 'INVALID_EVENT') || !forgives(type, options)) throw error
          return pretendedEvent(inner, type, data)
        }
      }),
    }),
  }
}

function forgiving(types: readonly string[]): (type: string, options: object | undefined) => boolean {
  return (type, options) => types.includes(type) && (options === undefined || Object.keys(options).length === 0)
}

export const GRAMMAR_MUTANTS: readonly Mutant[] = [
  lenient(
    'turn-starts-anywhere',
    'A turn may start inside a turn, with any number.',
    'GRAMMAR-1',
    forgiving(['turn/start']),
  ),
  lenient('steps-start-anywhere', 'A step may start anywhere.', 'GRAMMAR-2', forgiving(['step/start'])),
  lenient('user-messages-anywhere', 'A user message is taken anywhere.', 'GRAMMAR-3', forgiving(['user/message'])),
  lenient(
    'chunks-anywhere',
    'Chunks and requests are taken outside steps.',
    'GRAMMAR-4',
    forgiving(['assistant/chunk', 'request/sent']),
  ),
  lenient('turn-ends-anywhere', 'A turn may end at any time.', 'GRAMMAR-5', forgiving(['turn/end'])),
  lenient(
    'calls-unasked',
    'Calls and executions need nobody to have asked.',
    'GRAMMAR-6',
    forgiving(['tool/call', 'tool/execution']),
  ),
  lenient('results-unasked', 'Results need no open call.', 'GRAMMAR-7', forgiving(['tool/result'])),
  lenient('steps-end-anywhere', 'A step may end with open calls.', 'GRAMMAR-8', forgiving(['step/end'])),
  lenient(
    'ranges-unchecked',
    'A replace, a removal or a source may name anything.',
    'GRAMMAR-9',
    (type, options) => type === 'surface/remove' || (options !== undefined && Object.keys(options).length > 0),
  ),
  {
    name: 'imports-unchecked',
    wrong: 'An import that breaks the grammar is reported as done.',
    aimedAt: 'GRAMMAR-10',
    persistence: (inner) => ({
      importLog: async (source, options) => {
        try {
          return await inner.importLog(source, options)
        } catch (error) {
          if (!isSessionError(error, 'INVALID_EVENT') || error.expected !== undefined) throw error
          return { id: source.header.id, events: 0, head: { seq: -1, crc: '00000000' } }
        }
      },
    }),
  },
  {
    name: 'imports-renumbered',
    wrong: 'An import numbers over a gap.',
    aimedAt: 'GRAMMAR-11',
    persistence: (inner) => ({
      importLog: (source, options) => {
        async function* renumbered(): AsyncGenerator<readonly AnySessionEvent[]> {
          let seq = 0
          for await (const page of source.events) yield page.map((event) => ({ ...event, seq: seq++ }))
        }
        return inner.importLog({ ...source, events: renumbered() }, options)
      },
    }),
  },
]
