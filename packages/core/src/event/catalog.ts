/** Extension event types with their run-time schemas, and what append asks of every type. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { SessionError } from '../errors.ts'
import { validateCoreEvent } from './core-event.ts'
import type { Json } from './event.ts'
import { childPath } from './json-path.ts'
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

/** Longest type name, in characters: every event carries one. */
const TYPE_LENGTH_MAX = 128

/** `namespace/name`: letters, digits, `.`, `_`, `-`; a namespace may start with `@`. */
const EXTENSION_TYPE = /^@?[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/

/** INVALID_ARGUMENT for a name that is not an extension type, or an entry that is not of the documented form. */
export function createCatalog(entries: EventCatalog = {}): ResolvedCatalog {
  const catalog = new Map<string, CatalogEntry>()
  for (const [type, entry] of Object.entries(entries)) {
    checkName(type)
    checkEntry(type, entry)
    catalog.set(type, entry)
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
        throw new SessionError('UNKNOWN_EVENT', `The event type ${shown(type)} is neither core nor in the catalog`)
      }
      if (entry.schema !== undefined) validate(type, entry.schema, data)
      return entry.ignorable ? IGNORABLE : REQUIRED
    },
  })
}

const REQUIRED = Object.freeze({ ignorable: false })
const IGNORABLE = Object.freeze({ ignorable: true })

/** A type is a name, but one that was not checked may be any text: then it is not shown. */
function shown(type: string): string {
  return type.length <= TYPE_LENGTH_MAX && EXTENSION_TYPE.test(type) ? `"${type}"` : '(not of the form namespace/name)'
}

function checkName(type: string): void {
  if (!EXTENSION_TYPE.test(type) || type.length > TYPE_LENGTH_MAX) {
    throw new SessionError(
      'INVALID_ARGUMENT',
      `An extension event type must have the form namespace/name in at most ${TYPE_LENGTH_MAX} characters: ${JSON.stringify(type.slice(0, TYPE_LENGTH_MAX))}`,
    )
  }
  // A core type that is added later must not meet a stored extension of the same name.
  const namespace = type.slice(0, type.indexOf('/')).toLowerCase()
  if (coreNamespaces.has(namespace)) {
    throw new SessionError('INVALID_ARGUMENT', `The namespace "${namespace}" of "${type}" is reserved for core events`)
  }
}

function checkEntry(type: string, entry: unknown): void {
  if (typeof entry !== 'object' || entry === null || !('ignorable' in entry) || typeof entry.ignorable !== 'boolean') {
    throw new SessionError('INVALID_ARGUMENT', `The catalog entry of "${type}" must say whether it is ignorable`)
  }
  if (!('schema' in entry) || entry.schema === undefined) return
  const { schema } = entry
  const isSchema = (typeof schema === 'object' || typeof schema === 'function') && schema !== null
  if (!isSchema || !('~standard' in schema)) {
    throw new SessionError('INVALID_ARGUMENT', `The schema of "${type}" is not a Standard Schema`)
  }
}

function validate(type: string, schema: StandardSchemaV1, data: Json): void {
  const result = run(type, schema, data)
  if (result instanceof Promise || (typeof result === 'object' && 'then' in result)) {
    // Nobody will wait for it: a rejection must not surface as an unhandled one.
    Promise.resolve(result).catch(() => {})
    throw new SessionError('NOT_SUPPORTED', `The schema of "${type}" is asynchronous; append needs a synchronous one`)
  }
  if (result.issues === undefined) return
  const path = issuePath(result.issues[0])
  // Not the issue's own message: it may quote the data.
  throw new SessionError(
    'INVALID_EVENT',
    `The data of "${type}" fails its schema at ${path} (issues: ${result.issues.length})`,
    { path },
  )
}

function run(
  type: string,
  schema: StandardSchemaV1,
  data: Json,
): StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>> {
  try {
    return schema['~standard'].validate(data)
  } catch (cause) {
    throw new SessionError('INVALID_EVENT', `The schema of "${type}" threw`, { cause, path: '$.data' })
  }
}

function issuePath(issue: StandardSchemaV1.Issue | undefined): string {
  let path = '$.data'
  for (const segment of issue?.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment
    path = childPath(path, typeof key === 'number' ? key : String(key))
  }
  return path
}
