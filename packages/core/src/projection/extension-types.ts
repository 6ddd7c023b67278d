/**
 * Which required extension types the log holds, so that a resume from a snapshot knows of them without rereading:
 * a log with one that is not in the catalog is refused.
 */
import type { AnySessionEvent } from '../event/event.ts'
import { isCoreType } from '../event/vocabulary-table.ts'
import type { Projection } from './projection.ts'

export type ExtensionTypesState = readonly string[]

export const extensionTypes: Projection<ExtensionTypesState> = {
  name: 'core/extension-types',
  version: 1,
  initial: () => [],
  apply(state: ExtensionTypesState, event: AnySessionEvent): ExtensionTypesState {
    if (event.ignorable === true || isCoreType(event.type) || state.includes(event.type)) return state
    return [...state, event.type]
  },
  load(saved: unknown): ExtensionTypesState {
    if (!Array.isArray(saved) || !saved.every((type) => typeof type === 'string'))
      throw new TypeError('not a list of types')
    return saved
  },
}
