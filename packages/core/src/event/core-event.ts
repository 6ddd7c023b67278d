/** Validation of core event data, driven by the vocabulary table; chunks, the hot path, by hand. */
import { SessionError } from '../errors.ts'
import type { Json } from './event.ts'
import type { EventField, EventFieldType, EventShape } from './event-field.ts'
import { childPath } from './json-path.ts'
import { sharedShapes } from './shared-shapes.ts'
import { coreVocabulary, isCoreType } from './vocabulary-table.ts'

type JsonObject = { readonly [key: string]: Json }

/**
 * Checks the data of a core event. INVALID_EVENT names the JSON path and what was expected there, never what was
 * found. Fields that the table does not list are accepted. UNKNOWN_EVENT for a type that is not core.
 */
export function validateCoreEvent(type: string, data: Json): void {
  if (type === 'assistant/chunk' && isPlainDelta(data)) return
  if (!isCoreType(type)) throw new SessionError('UNKNOWN_EVENT', 'The event type is not core')
  checkShape(type, coreVocabulary[type], data, '$.data')
}

/** True for nearly every chunk there is; false leaves the verdict, and its wording, to the table. */
function isPlainDelta(data: Json): boolean {
  if (!isObject(data)) return false
  const { turn, step, kind, index, text } = data
  if (!isAtLeast(turn, 1) || !isAtLeast(step, 1) || !isAtLeast(index, 0) || typeof text !== 'string') return false
  if (kind === 'text' || kind === 'reasoning') return true
  const { callId, name } = data
  return kind === 'tool-arguments' && typeof callId === 'string' && (name === undefined || typeof name === 'string')
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAtLeast(value: Json | undefined, minimum: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= minimum
}

function invalid(type: string, path: string, expected: string): SessionError {
  return new SessionError('INVALID_EVENT', `Invalid ${type}: expected ${expected} at ${path}`, { path, expected })
}

function checkShape(type: string, shape: EventShape, value: Json | undefined, path: string): void {
  if (!isObject(value)) throw invalid(type, path, 'an object')
  checkFields(type, shape.fields, value, path)
  if (shape.variants === undefined) return
  const kind = value.kind
  const variant = shape.variants.find(({ kinds }) => typeof kind === 'string' && kinds.includes(kind))
  if (variant === undefined) {
    const kinds = shape.variants.flatMap((each) => each.kinds)
    throw invalid(type, `${path}.kind`, oneOfWords(kinds))
  }
  checkFields(type, variant.fields, value, path)
}

function checkFields(type: string, fields: readonly EventField[], value: JsonObject, path: string): void {
  for (const field of fields) {
    const child = value[field.name]
    if (child !== undefined) checkField(type, field.type, child, `${path}.${field.name}`)
    else if (field.required) throw invalid(type, `${path}.${field.name}`, describe(field.type))
  }
}

function checkField(type: string, field: EventFieldType, value: Json, path: string): void {
  switch (field.kind) {
    case 'any':
      return
    case 'string':
      if (typeof value === 'string') return
      break
    case 'integer':
      if (isAtLeast(value, field.minimum)) return
      break
    case 'literal':
      if ((typeof value === 'string' || value === true) && field.values.includes(value)) return
      break
    case 'array':
      if (!Array.isArray(value)) break
      value.forEach((item: Json, index: number) => {
        checkField(type, field.items, item, childPath(path, index))
      })
      return
    case 'map':
      if (!isObject(value)) break
      for (const [key, item] of Object.entries(value)) checkField(type, field.values, item, childPath(path, key))
      return
    case 'shape':
      checkShape(type, sharedShapes[field.name], value, path)
      return
  }
  throw invalid(type, path, describe(field))
}

function describe(field: EventFieldType): string {
  switch (field.kind) {
    case 'any':
      return 'a value'
    case 'string':
      return 'a string'
    case 'integer':
      return `an integer of at least ${field.minimum}`
    case 'literal':
      return oneOfWords(field.values)
    case 'array':
      return 'an array'
    default:
      return 'an object'
  }
}

function oneOfWords(values: readonly (string | true)[]): string {
  return values.map((value) => JSON.stringify(value)).join(' or ')
}
