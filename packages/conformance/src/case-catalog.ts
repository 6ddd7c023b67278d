import type { EventCatalog } from '@session-persistence/core'

/** A Standard Schema that takes only `{ n: number }`, and offers a transformed value that must not be stored. */
const numberSchema = {
  '~standard': {
    version: 1,
    vendor: 'conformance',
    validate: (value: unknown) => {
      const valid = typeof value === 'object' && value !== null && 'n' in value && typeof value.n === 'number'
      return valid ? { value: { n: -1, transformed: true } } : { issues: [{ message: 'n must be a number' }] }
    },
  },
} as const

/** The extension types of these cases. */
export const CATALOG: EventCatalog = {
  'acme/note': { ignorable: true },
  'acme/rule': { ignorable: false, schema: numberSchema },
}
