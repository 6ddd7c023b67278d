import { isSessionError, SessionError } from '@session-persistence/core'
import { wellFormed } from './id-mutants.ts'
import { changedAppend, changedMessages, type Mutant } from './mutant.ts'

function keysOf(part: unknown): readonly string[] | undefined {
  return typeof part === 'object' && part !== null && !Array.isArray(part) ? Object.keys(part) : undefined
}

/** Wrong in what comes back of what was stored, or in how wrong data is refused. */
export const DATA_MUTANTS: readonly Mutant[] = [
  {
    name: 'lone-surrogates-replaced',
    wrong: 'A lone surrogate in a text comes back as a replacement character.',
    aimedAt: 'DATA-1',
    ...changedMessages((part) => (typeof part === 'string' ? wellFormed(part) : part)),
  },
  {
    name: 'keys-cut-at-nul',
    wrong: 'A key ends at U+0000.',
    aimedAt: 'DATA-2',
    ...changedMessages((part) => {
      if (keysOf(part) === undefined) return part
      const entries = Object.entries(part as object).map(
        ([key, value]) => [key.split('\u0000')[0] ?? '', value] as const,
      )
      return Object.fromEntries(entries)
    }),
  },
  {
    name: 'largest-integers-rounded',
    wrong: '2^53 comes back as 2^53 - 1.',
    aimedAt: 'DATA-3',
    ...changedMessages((part) => (part === 2 ** 53 ? 2 ** 53 - 1 : part)),
  },
  {
    name: 'proto-keys-dropped',
    wrong: 'An own key `__proto__` is lost.',
    aimedAt: 'DATA-4',
    ...changedMessages((part) => {
      if (keysOf(part)?.includes('__proto__') !== true) return part
      return Object.fromEntries(Object.entries(part as object).filter(([key]) => key !== '__proto__'))
    }),
  },
  {
    name: 'labels-from-a-prototype',
    wrong: 'A view’s messages lose own keys `__proto__`.',
    aimedAt: 'SEC-2',
    view: (inner) => ({
      messages: () =>
        inner.messages().map((message) => {
          if (keysOf(message)?.includes('__proto__') !== true) return message
          return Object.fromEntries(Object.entries(message as object).filter(([key]) => key !== '__proto__'))
        }),
    }),
  },
  {
    name: 'keys-sorted',
    wrong: 'The keys of messages come back sorted when there are more than two.',
    aimedAt: 'DATA-5',
    ...changedMessages((part) => {
      const keys = keysOf(part)
      if (keys === undefined || keys.length < 3) return part
      return Object.fromEntries(Object.entries(part as object).sort(([a], [b]) => (a < b ? -1 : 1)))
    }),
  },
  {
    name: 'empty-objects-are-null',
    wrong: 'An empty object comes back as null.',
    aimedAt: 'DATA-6',
    ...changedMessages((part) => (keysOf(part)?.length === 0 ? null : part)),
  },
  {
    name: 'deep-data-unreadable',
    wrong: 'What nests deeper than a hundred levels cannot be read back.',
    aimedAt: 'DATA-7',
    ...changedMessages((part) => {
      if (depthOf(part) > 100) throw new SessionError('CORRUPT', 'too deep')
      return part
    }),
  },
  {
    name: 'long-texts-cut',
    wrong: 'A text ends after 64 KiB.',
    aimedAt: 'DATA-8',
    ...changedMessages((part) => (typeof part === 'string' ? part.slice(0, 65_536) : part)),
  },
  {
    name: 'record-like-text-parsed',
    wrong: 'A text that looks like a record comes back as one.',
    aimedAt: 'DATA-9',
    ...changedMessages((part) => (typeof part === 'string' && part.startsWith('{"seq"') ? JSON.parse(part) : part)),
  },
  {
    name: 'lossy-values-accepted',
    wrong: 'What JSON would lose is stored as JSON has it.',
    aimedAt: 'DATA-10',
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        try {
          return append(type, data, options)
        } catch (error) {
          if (!isSessionError(error, 'INVALID_EVENT')) throw error
          let lossy: unknown
          try {
            lossy = JSON.parse(JSON.stringify(data))
          } catch {
            throw error
          }
          return append(type, lossy, options)
        }
      }),
    }),
  },
  {
    name: 'tiny-numbers-are-zero',
    wrong: 'A number closer to 0 than 1e-100 comes back as 0.',
    aimedAt: 'DATA-11',
    ...changedMessages((part) => (typeof part === 'number' && Math.abs(part) < 1e-100 ? 0 : part)),
  },
  {
    name: 'payload-in-messages',
    wrong: 'The error about a refused event quotes it.',
    aimedAt: 'SEC-1',
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        try {
          return append(type, data, options)
        } catch (error) {
          if (!isSessionError(error) || error.code === 'TOO_LARGE') throw error
          throw new SessionError(error.code, `${error.message}: ${quoted(data)}`, error)
        }
      }),
    }),
  },
  {
    name: 'null-data-crashes',
    wrong: 'Data that is null ends in a TypeError.',
    aimedAt: 'SEC-6',
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        if (data === null) throw new TypeError('Cannot read properties of null')
        return append(type, data, options)
      }),
    }),
  },
  {
    name: 'list-errors-untyped',
    wrong: 'A list with a bad argument throws a plain RangeError.',
    aimedAt: 'ERR-1',
    persistence: (inner) => ({
      list: async (options) => {
        try {
          return await inner.list(options)
        } catch (error) {
          if (isSessionError(error, 'INVALID_ARGUMENT')) throw new RangeError(error.message)
          throw error
        }
      },
    }),
  },
  {
    name: 'errors-without-session',
    wrong: 'A refused resume does not say of which session.',
    aimedAt: 'ERR-2',
    persistence: (inner) => ({
      resume: async (id, options) => {
        try {
          return await inner.resume(id, options)
        } catch (error) {
          if (!isSessionError(error)) throw error
          const { sessionId: _, ...details } = error
          throw new SessionError(error.code, error.message, { ...details, cause: error.cause })
        }
      },
    }),
  },
  {
    name: 'errors-without-path',
    wrong: 'The error about a refused event does not say where in it.',
    aimedAt: 'ERR-3',
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        try {
          return append(type, data, options)
        } catch (error) {
          if (!isSessionError(error, 'INVALID_EVENT')) throw error
          throw new SessionError(error.code, 'the event is not valid', { sessionId: inner.id })
        }
      }),
    }),
  },
]

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function quoted(data: unknown): string {
  try {
    return JSON.stringify(data) ?? ''
  } catch {
    return ''
  }
}
