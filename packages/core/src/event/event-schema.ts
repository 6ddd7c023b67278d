/** JSON Schemas (draft 2020-12) of the core events, made from the vocabulary table. */

import type { EventField, EventFieldType, EventShape, EventShapeName } from './event-field.ts'
import { sharedShapes } from './shared-shapes.ts'
import { type CoreEventType, coreEventTypes, coreVocabulary } from './vocabulary-table.ts'

/** A JSON Schema document or part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown }

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

/** The schema of the data of one core event type; complete in itself. */
export function coreEventSchema(type: CoreEventType): JsonSchema {
  const spec = coreVocabulary[type]
  return { $schema: DRAFT, title: type, ...shapeSchema(spec), ...definitions(shapesOf(spec)) }
}

/** The schema of a whole stored event: the envelope, and the data of every core type. */
export function eventSchema(): JsonSchema {
  const seq = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  const range = { type: 'array', prefixItems: [seq, seq], items: false, minItems: 2 }
  return {
    $schema: DRAFT,
    title: 'session event',
    description: 'One event of a session log. Data of extension types is free.',
    type: 'object',
    properties: {
      seq: { ...seq, description: 'Position in the log, contiguous from 0. Order is seq, never time.' },
      time: { type: 'integer', description: 'Unix milliseconds; may repeat or go backwards.' },
      type: { type: 'string', minLength: 1, description: 'A core type, or namespace/name.' },
      data: { description: 'Lossless JSON.' },
      ignorable: { const: true, description: 'A reader that does not know the type may skip it.' },
      surface: {
        type: 'object',
        description: 'On a message: it takes the place of the live messages between these seqs, inclusive.',
        properties: { replace: range },
        required: ['replace'],
        additionalProperties: false,
      },
      sources: {
        type: 'array',
        items: range,
        description: 'Seq ranges of the earlier events that this one was made from.',
      },
    },
    required: ['seq', 'time', 'type', 'data'],
    additionalProperties: false,
    allOf: coreEventTypes.map((type) => ({
      if: { properties: { type: { const: type } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits this object.
      then: { properties: { data: { $ref: `#/$defs/${definitionName(type)}` } } },
    })),
    $defs: {
      ...Object.fromEntries(coreEventTypes.map((type) => [definitionName(type), shapeSchema(coreVocabulary[type])])),
      ...Object.fromEntries(Object.entries(sharedShapes).map(([name, shape]) => [name, shapeSchema(shape)])),
    },
  }
}

/** `tool/result` as a file or definition name: `tool-result`. */
export function definitionName(type: CoreEventType): string {
  return type.replace('/', '-')
}

function shapeSchema(shape: EventShape): JsonSchema {
  const base = { description: shape.description, ...objectSchema(shape.fields) }
  if (shape.variants === undefined) return base
  return {
    ...base,
    oneOf: shape.variants.map(({ kinds, description, fields }) => {
      const { properties, required = [] } = objectSchema(fields)
      return {
        description,
        properties: { kind: kinds.length === 1 ? { const: kinds[0] } : { enum: kinds }, ...properties },
        required: ['kind', ...required],
      }
    }),
  }
}

function objectSchema(fields: readonly EventField[]): {
  readonly type: 'object'
  readonly properties: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
} {
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, type, description }) => [name, { description, ...typeSchema(type) }]),
    ),
    ...(required.length === 0 ? {} : { required }),
  }
}

function typeSchema(type: EventFieldType): JsonSchema {
  switch (type.kind) {
    case 'any':
      return {}
    case 'string':
      return { type: 'string' }
    case 'integer':
      return { type: 'integer', minimum: type.minimum, maximum: Number.MAX_SAFE_INTEGER }
    case 'literal':
      return type.values.length === 1 ? { const: type.values[0] } : { enum: type.values }
    case 'array':
      return { type: 'array', items: typeSchema(type.items) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.values) }
    case 'shape':
      return { $ref: `#/$defs/${type.name}` }
  }
}

function definitions(names: ReadonlySet<EventShapeName>): JsonSchema {
  if (names.size === 0) return {}
  return { $defs: Object.fromEntries([...names].map((name) => [name, shapeSchema(sharedShapes[name])])) }
}

/** Every shared shape that a shape refers to, directly or through another. */
function shapesOf(shape: EventShape, names: Set<EventShapeName> = new Set()): ReadonlySet<EventShapeName> {
  const fields = [...shape.fields, ...(shape.variants ?? []).flatMap((variant) => variant.fields)]
  for (const { type } of fields) {
    const inner = type.kind === 'array' ? type.items : type.kind === 'map' ? type.values : type
    if (inner.kind !== 'shape' || names.has(inner.name)) continue
    names.add(inner.name)
    shapesOf(sharedShapes[inner.name], names)
  }
  return names
}
