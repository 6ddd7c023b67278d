import type { StandardSchemaV1 } from '@standard-schema/spec'

/** The run-time side of one extension event type. */
export interface CatalogEntry {
  /** Whether a reader that does not know the type may skip it. Mandatory, so that nobody forgets to decide. */
  readonly ignorable: boolean
  /** Any Standard Schema; run at append only, synchronously; the input is stored, never a transformed output. */
  readonly schema?: StandardSchemaV1
  readonly description?: string
}

/** Extension types `namespace/name` with their entries. */
export type EventCatalog = { readonly [type: string]: CatalogEntry }
