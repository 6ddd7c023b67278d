/** Extension event types with their run-time schemas, and what append asks of every type. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type ArgumentCheck, aBoolean, anObject, anOptionsObject, checkedLater, must } from '../argument-checks.ts'
import { SessionError } from '../errors.ts'
import { validateCoreEvent } from './core-event.ts'
import type { Json } from './event.ts'
import { childPath } from './json-path.ts'
import { isExtensionType, shownName, shownType, TYPE_LENGTH_MAX } from './shown-text.ts'
import { isStrayPromise } from './stray-promise.ts'
import { coreNamespaces, isCoreType } from './vocabulary-table.ts'

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

/** The core vocabulary and the harness's own types together. */
export interface ResolvedCatalog {
  /** True for core types and for those of the catalog. */
  knows(type: string): boolean
  /**
   * Validates the data of an event about to be appended, and says how the event is to be stamped. UNKNOWN_EVENT for a
   * type that is not known; INVALID_EVENT, with the JSON path, for data that its schema refuses, or with the cause
   * when the schema throws; NOT_SUPPORTED for a schema that answers asynchronously.
   */
  check(type: string, data: Json): { readonly ignorable: boolean }
}

/** INVALID_ARGUMENT for a name that is not an extension type, or an entry that is not of the documented form. */
export function createCatalog(entries: EventCatalog = {}): ResolvedCatalog {
  const catalog = new Map<string, CatalogEntry>()
  for (const [type, entry] of Object.entries(anOptionsObject(entries, 'events'))) {
    checkName(type)
    catalog.set(type, catalogEntry(entry, `the catalog entry of "${type}"`))
  }
  return Object.freeze({
    knows: (type: string) => isCoreType(type) || catalog.has(type),
    check(type: string, data: Json) {
      if (isCoreType(type)) {
        validateCoreEvent(type, data)
        return REQUIRED
      }
      const entry = catalog.get(type)
      if (entry === undefined) {
        throw new SessionError('UNKNOWN_EVENT', `The event type ${shownType(type)} is neither core nor in the catalog`)
      }
      if (entry.schema !== undefined) validate(type, entry.schema, data)
      return entry.ignorable ? IGNORABLE : REQUIRED
    },
  })
}

const REQUIRED = Object.freeze({ ignorable: false })
const IGNORABLE = Object.freeze({ ignorable: true })

function checkName(type: string): void {
  if (!isExtensionType(type)) {
    throw new SessionError(
      'INVALID_ARGUMENT',
      `An extension event type must have the form namespace/name in at most ${TYPE_LENGTH_MAX} characters: ${shownName(type)}`,
    )
  }
  // A core type that is added later must not meet a stored extension of the same name.
  const namespace = type.slice(0, type.indexOf('/')).toLowerCase()
  if (coreNamespaces.has(namespace)) {
    throw new SessionError('INVALID_ARGUMENT', `The namespace "${namespace}" of "${type}" is reserved for core events`)
  }
}

const catalogEntry: ArgumentCheck<CatalogEntry> = anObject<CatalogEntry>(
  {
    ignorable: aBoolean,
    schema: must('a Standard Schema', (value) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
      return typeof (value as Partial<StandardSchemaV1>)['~standard']?.validate === 'function'
    }),
    description: checkedLater(),
  },
  ['ignorable'],
)

function validate(type: string, schema: StandardSchemaV1, data: Json): void {
  const result = run(type, schema, data)
  if (result === undefined) return
  // Not the issue's own message: it may quote the data.
  throw new SessionError(
    'INVALID_EVENT',
    `The data of "${type}" fails its schema at ${result.path} (issues: ${result.issues})`,
    { path: result.path },
  )
}

interface SchemaRefusal {
  readonly path: string
  readonly issues: number
}

/** What the schema finds wrong; undefined for nothing. Whatever it throws or answers, nothing is stored unjudged. */
function run(type: string, schema: StandardSchemaV1, data: Json): SchemaRefusal | undefined {
  let asynchronous = false
  try {
    const result: unknown = schema['~standard'].validate(data)
    // Nobody will wait for it: a rejection must not surface as an unhandled one.
    asynchronous = isStrayPromise(result)
    if (!asynchronous) return refusalIn(result)
  } catch (cause) {
    throw new SessionError('INVALID_EVENT', `The schema of "${type}" threw, or gave no result`, {
      cause,
      path: '$.data',
    })
  }
  throw new SessionError('NOT_SUPPORTED', `The schema of "${type}" is asynchronous; append needs a synchronous one`)
}

function refusalIn(result: unknown): SchemaRefusal | undefined {
  const { issues } = result as StandardSchemaV1.Result<unknown>
  if (issues === undefined) return undefined
  return { path: issuePath(issues[0]), issues: issues.length }
}

function issuePath(issue: StandardSchemaV1.Issue | undefined): string {
  let path = '$.data'
  const segments = Array.isArray(issue?.path) ? (issue.path as readonly unknown[]) : []
  for (const segment of segments) {
    const key: unknown = typeof segment === 'object' && segment !== null && 'key' in segment ? segment.key : segment
    path = childPath(path, typeof key === 'number' ? key : String(key))
  }
  return path
}
