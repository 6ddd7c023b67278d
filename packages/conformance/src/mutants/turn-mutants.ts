import { type AnySessionEvent, type ModelContext, SessionError } from '@session-persistence/core'
import { changedEvents, type Mutant } from './mutant.ts'

function dataOf(event: AnySessionEvent): Readonly<Record<string, unknown>> {
  return event.data as Readonly<Record<string, unknown>>
}

export const TURN_MUTANTS: readonly Mutant[] = [
  {
    name: 'attempts-not-counted',
    wrong: 'Every request of a step is its first attempt.',
    aimedAt: 'CHECKPOINT-1',
    ...changedEvents((event) =>
      event.type === 'request/sent' ? { ...event, data: { ...dataOf(event), attempt: 1 } } : event,
    ),
  },
  {
    name: 'checkpoint-trusts-the-request',
    wrong: 'A checkpoint never compares.',
    aimedAt: 'CHECKPOINT-2',
    session: (inner) => ({ checkpoint: () => inner.checkpoint(inner.modelContext()) }),
  },
  {
    name: 'checkpoint-compares-text',
    wrong: 'A checkpoint compares JSON texts, key order included.',
    aimedAt: 'CHECKPOINT-3',
    session: (inner) => ({
      checkpoint: async (request) => {
        const text = ({ model, config, system, tools, messages }: ModelContext): string =>
          JSON.stringify({ model, config, system, tools, messages })
        if (text(request) !== text(inner.modelContext())) throw new SessionError('INVARIANT', 'the request differs')
        return inner.checkpoint(request)
      },
    }),
  },
  {
    name: 'last-request-is-the-next-one',
    wrong: 'The last request is given with what came after it.',
    aimedAt: 'CHECKPOINT-4',
    session: (inner) => ({
      lastRequest: () => {
        const last = inner.lastRequest()
        return last === undefined ? last : { ...last, context: inner.modelContext() }
      },
    }),
  },
  {
    name: 'no-derived-request',
    wrong: 'A log without `request/sent` has no last request.',
    aimedAt: 'CHECKPOINT-5',
    view: (inner) => ({
      lastRequest: () => (inner.lastRequest()?.derived === true ? undefined : inner.lastRequest()),
    }),
  },
  {
    name: 'view-without-request-header',
    wrong: 'The model context of a view is its messages only.',
    aimedAt: 'CHECKPOINT-6',
    view: (inner) => ({ modelContext: () => ({ messages: inner.messages() }) }),
  },
  {
    name: 'effect-not-recorded',
    wrong: 'beginCall does not record the effect of a call.',
    aimedAt: 'CHECKPOINT-7',
    session: (inner) => ({
      beginCall: ({ effect: _, ...call }) => inner.beginCall(call),
    }),
  },
  {
    name: 'every-turn-completed',
    wrong: 'closeTurn records every reason as completed.',
    aimedAt: 'CLOSE-1',
    session: (inner) => ({
      closeTurn: (options) => inner.closeTurn({ ...options, reason: { kind: 'completed' } }),
    }),
  },
  {
    name: 'results-without-tier',
    wrong: 'Synthetic results all say that the outcome is unknown.',
    aimedAt: 'CLOSE-2',
    ...changedEvents((event) => {
      const synthetic = event.type === 'tool/result' ? dataOf(event).synthetic : undefined
      if (synthetic === undefined) return event
      return { ...event, data: { ...dataOf(event), synthetic: { ...(synthetic as object), tier: 'outcome-unknown' } } }
    }),
  },
  {
    name: 'partial-answer-looks-whole',
    wrong: 'A kept partial answer is not marked as interrupted.',
    aimedAt: 'CLOSE-3',
    ...changedEvents((event) => {
      if (event.type !== 'assistant/message') return event
      const { interrupted: _, ...data } = dataOf(event)
      return { ...event, data }
    }),
  },
  {
    name: 'partial-answer-always-kept',
    wrong: 'A partial answer is kept against the caller’s will.',
    aimedAt: 'CLOSE-4',
    session: (inner) => ({ closeTurn: (options) => inner.closeTurn({ ...options, keepPartialAnswer: true }) }),
  },
  {
    name: 'recovery-drops-the-partial-answer',
    wrong: 'A resume never keeps a partial answer.',
    aimedAt: 'CLOSE-5',
    persistence: (inner) => ({
      resume: (id, options) => inner.resume(id, { ...options, keepPartialAnswer: false }),
    }),
  },
  {
    name: 'idle-close-turn-appends',
    wrong: 'closeTurn with nothing open leaves a record.',
    aimedAt: 'CLOSE-6',
    session: (inner) => ({
      closeTurn: async (options) => {
        if (inner.openTurn === undefined) inner.append('session/title', { title: 'closed' })
        return inner.closeTurn(options)
      },
    }),
  },
]
