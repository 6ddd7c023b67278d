import type { SessionPersistence } from '@session-persistence/core'
import { isSessionError } from '@session-persistence/core'
import type { Mutant } from './mutant.ts'

/** A persistence that changes every id that it is given. */
function changedIds(change: (id: string) => string): NonNullable<Mutant['persistence']> {
  return (inner): Partial<SessionPersistence> => {
    const changed = (id: string): string => (typeof id === 'string' ? change(id) : id)
    return {
      create: (options = {}) =>
        inner.create(options.id === undefined ? options : { ...options, id: changed(options.id) }),
      resume: (id, options) => inner.resume(changed(id), options),
      fork: (id, options) => inner.fork(changed(id), options),
      inspect: (id, options) => inner.inspect(changed(id), options),
      read: (id, options) => inner.read(changed(id), options),
      annotate: (id, annotation) => inner.annotate(changed(id), annotation),
      verify: (id, options) => inner.verify(changed(id), options),
      delete: (id) => inner.delete(changed(id)),
    }
  }
}

/** Lone surrogates have no UTF-8 form, so a round through it replaces them. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

/** Wrong in what they make of session ids. */
export const ID_MUTANTS: readonly Mutant[] = [
  {
    name: 'ids-made-well-formed',
    wrong: 'A lone surrogate in an id is replaced instead of refused.',
    aimedAt: 'ID-1',
    persistence: changedIds((id) => wellFormed(id)),
  },
  {
    name: 'ids-lower-cased',
    wrong: 'Ids are kept in lower case.',
    aimedAt: 'ID-2',
    persistence: changedIds((id) => id.toLowerCase()),
  },
  {
    name: 'ids-normalised',
    wrong: 'Ids are normalised to NFC.',
    aimedAt: 'ID-3',
    persistence: changedIds((id) => id.normalize('NFC')),
  },
  {
    name: 'create-replaces',
    wrong: 'Creating a session under a stored id empties it first.',
    aimedAt: 'ID-5',
    persistence: (inner) => ({
      create: async (options = {}) => {
        try {
          return await inner.create(options)
        } catch (error) {
          if (!isSessionError(error, 'ALREADY_EXISTS') || options.id === undefined) throw error
          await inner.delete(options.id)
          return inner.create(options)
        }
      },
    }),
  },
  {
    name: 'new-ids-repeat',
    wrong: 'After forty-eight new ids the first one comes again.',
    aimedAt: 'ID-6',
    options: (options) => {
      let made = 0
      return { ...options, newId: () => `id-${made++ % 48}` }
    },
  },
]
