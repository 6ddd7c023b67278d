// Proves that the vocabulary table, the run-time validation, the JSON Schemas and the static types say the same.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { isSessionError, type SessionError } from '../../src/errors.ts'
import { validateCoreEvent } from '../../src/event/core-event.ts'
import type { Json } from '../../src/event/event.ts'
import type { EventField, EventFieldType, EventShape } from '../../src/event/event-field.ts'
import { coreEventSchema, definitionName, eventSchema } from '../../src/event/event-schema.ts'
import { sharedShapes } from '../../src/event/shared-shapes.ts'
import type { SessionEventMap, SurfaceType } from '../../src/event/vocabulary.ts'
import {
  type CoreEventType,
  coreEventTypes,
  coreNamespaces,
  coreVocabulary,
  isCoreType,
} from '../../src/event/vocabulary-table.ts'
import { anyText, losslessJson, scale } from './arbitraries.ts'

function refusal(type: string, data: unknown): SessionError | undefined {
  try {
    validateCoreEvent(type, data as Json)
    return undefined
  } catch (error) {
    if (isSessionError(error)) return error
    throw error
  }
}

type NamespaceOf<Type> = Type extends `${infer Namespace}/${string}` ? Namespace : never

/** One valid event of each type with every field present. Typed: a field that the types lack would not compile. */
const complete: { readonly [Type in CoreEventType]: Required<SessionEventMap[Type]> } = {
  'turn/start': { turn: 1, trigger: { by: 'cron' } },
  'turn/end': { turn: 1, reason: { kind: 'failed', error: { code: 'E', message: 'm', details: [1] } } },
  'step/start': { turn: 1, step: 1 },
  'step/end': { turn: 1, step: 1 },
  'session/resumed': { writer: 'w' },
  'session/forked': { parent: 'p', at: -1, reason: 'r' },
  'user/message': { turn: 1, step: 1, message: 'hi', source: { kind: 'human', name: 'x' } },
  'assistant/message': {
    turn: 1,
    step: 1,
    message: null,
    toolCalls: [{ callId: 'c', name: 'n', arguments: {} }],
    provider: 'p',
    model: 'm',
    usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 3 },
    interrupted: true,
  },
  'tool/result': {
    turn: 1,
    step: 1,
    callId: 'c',
    message: [],
    error: {},
    meta: 1,
    synthetic: { tier: 'reconcile', idempotencyKey: 'k', externalId: 'x' },
  },
  'surface/remove': { turn: 1, step: 1, start: 0, end: 3, reason: 'rewind' },
  'request/header': { turn: 1, step: 1, model: 'm', config: {}, system: 's', tools: [] },
  'request/sent': { turn: 1, step: 1, attempt: 1 },
  'request/context': { turn: 1, step: 1, contextWindow: 200000, other: 'fact' },
  'assistant/chunk': { turn: 1, step: 1, kind: 'tool-arguments', index: 0, callId: 'c', name: 'n', text: '' },
  'tool/call': { turn: 1, step: 1, callId: 'c', name: 'n', arguments: 1, effect: 'idempotent', idempotencyKey: 'k' },
  'tool/execution': { turn: 1, step: 1, callId: 'c', state: 'external', externalId: 'x' },
  'compaction/start': { turn: 1, step: 1, compactionId: 'c', trigger: 'auto' },
  'compaction/end': { turn: 1, step: 1, compactionId: 'c', outcome: 'failed', error: { message: 'm' } },
  'session/title': { title: 't', source: 'model' },
  'session/labels': { labels: { a: 'b', __proto__x: 'c' } },
  'todo/write': { turn: 1, step: 1, todos: [{ text: 'x' }, 1] },
}

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: false })
const validators = new Map(coreEventTypes.map((type) => [type, ajv.compile(coreEventSchema(type))]))
const schemaAccepts = (type: CoreEventType, data: unknown): boolean => validators.get(type)?.(data) === true

describe('the table and the static types', () => {
  it('name the same types', () => {
    expectTypeOf<CoreEventType>().toExtend<keyof SessionEventMap>()
    // Declaration merging may add types of other namespaces to the map.
    type Namespaces = NamespaceOf<CoreEventType>
    expectTypeOf<Extract<keyof SessionEventMap, `${Namespaces}/${string}`>>().toEqualTypeOf<CoreEventType>()
    expect(coreEventTypes).toEqual(Object.keys(complete))
    expect(coreEventTypes.every(isCoreType)).toBe(true)
    for (const other of ['', 'turn', 'turn/', 'turn/started', 'constructor', '__proto__', 'acme/note']) {
      expect(isCoreType(other)).toBe(false)
    }
  })

  it('agree on what the surface is made of', () => {
    const surface: readonly SurfaceType[] = ['user/message', 'assistant/message', 'tool/result']
    expect(coreEventTypes.filter((type) => coreVocabulary[type].domain === 'surface')).toEqual(surface)
  })

  it('reserve every namespace that a core type has', () => {
    expect([...coreNamespaces].sort()).toEqual(
      ['assistant', 'compaction', 'request', 'session', 'step', 'surface', 'todo', 'tool', 'turn', 'user'].sort(),
    )
  })
})

describe.each(coreEventTypes)('%s', (type) => {
  const data = complete[type] as unknown as { readonly [key: string]: unknown }
  const spec: EventShape = coreVocabulary[type]
  const fields = [...spec.fields, ...(spec.variants ?? []).flatMap((variant) => variant.fields)]
  const used = fields.filter(({ name }) => Object.hasOwn(data, name))

  it('accepts every field, with and without the optional ones, and unknown ones', () => {
    const required = Object.fromEntries(
      Object.entries(data).filter(
        ([key]) => key === 'kind' || used.some((field) => field.name === key && field.required),
      ),
    )
    for (const accepted of [data, required, { ...data, added: { later: true } }]) {
      expect(refusal(type, accepted)).toBeUndefined()
      expect(schemaAccepts(type, accepted)).toBe(true)
    }
  })

  it.each(used.filter(({ required }) => required).map(({ name }) => name))('refuses a missing %s', (name) => {
    const { [name]: _, ...rest } = data
    const error = refusal(type, rest)
    expect(error).toMatchObject({ code: 'INVALID_EVENT', path: `$.data.${name}` })
    expect(schemaAccepts(type, rest)).toBe(false)
  })

  it.each(used.filter(({ type: { kind } }) => kind !== 'any').map(({ name }) => name))('refuses a null %s', (name) => {
    const error = refusal(type, { ...data, [name]: null })
    expect(error).toMatchObject({ code: 'INVALID_EVENT', path: `$.data.${name}` })
    expect(schemaAccepts(type, { ...data, [name]: null })).toBe(false)
  })

  it.each([[null], [[]], ['text'], [1]])('refuses %j as data', (value) => {
    expect(refusal(type, value)).toMatchObject({ code: 'INVALID_EVENT', path: '$.data' })
    expect(schemaAccepts(type, value)).toBe(false)
  })
})

describe('validation and schema', () => {
  /** Values of a type, and now and then others. */
  function anyValue(type: EventFieldType): fc.Arbitrary<unknown> {
    return fc.oneof({ weight: 12, arbitrary: rightValue(type) }, { weight: 1, arbitrary: losslessJson() })
  }
  function rightValue(type: EventFieldType): fc.Arbitrary<unknown> {
    switch (type.kind) {
      case 'any':
        return losslessJson()
      case 'string':
        return anyText()
      case 'integer':
        return fc.integer({ min: type.minimum - 1, max: 5 })
      case 'literal':
        return fc.constantFrom(...type.values, 'other', false)
      case 'array':
        return fc.array(anyValue(type.items), { maxLength: 2 })
      case 'map':
        return fc.dictionary(anyText(), anyValue(type.values), { maxKeys: 2 })
      case 'shape':
        return objectOf(sharedShapes[type.name])
    }
  }
  function objectOf(shape: EventShape): fc.Arbitrary<unknown> {
    const variants = shape.variants ?? []
    const of = (fields: readonly EventField[], kind?: string): fc.Arbitrary<object> =>
      fc.tuple(...fields.map(({ type }) => fc.option(anyValue(type), { nil: undefined, freq: 12 }))).map((values) => ({
        ...Object.fromEntries(fields.flatMap(({ name }, at) => (values[at] === undefined ? [] : [[name, values[at]]]))),
        ...(kind === undefined ? {} : { kind }),
      }))
    if (variants.length === 0) return of(shape.fields)
    return fc.oneof(
      ...variants.flatMap(({ kinds, fields }) => kinds.map((kind) => of([...shape.fields, ...fields], kind))),
      of(shape.fields, 'no such kind'),
      of(shape.fields),
    )
  }

  it.each(coreEventTypes)('agree on %s', (type) => {
    fc.assert(
      fc.property(objectOf(coreVocabulary[type]), (data) => {
        const error = refusal(type, data)
        expect(error === undefined).toBe(schemaAccepts(type, data))
        if (error !== undefined) expect(error.code).toBe('INVALID_EVENT')
      }),
      { numRuns: 100 * scale },
    )
  })

  it('describe every field', () => {
    const described = JSON.stringify(coreEventTypes.map(coreEventSchema)).match(/"description":"[^"]/g) ?? []
    expect(described.length).toBeGreaterThan(coreEventTypes.length)
    const all = [...Object.values(coreVocabulary), ...Object.values(sharedShapes)] as readonly EventShape[]
    for (const { description, fields, variants = [] } of all) {
      const texts = [description, ...[...fields, ...variants.flatMap((each) => each.fields)].map((f) => f.description)]
      for (const text of texts) expect(text).toMatch(/\.$/)
    }
  })

  it('the schema of a whole event accepts each core type with its data only, and any extension', () => {
    const whole = ajv.compile(eventSchema())
    const envelope = { seq: 0, time: 1 }
    for (const type of coreEventTypes) {
      expect(whole({ ...envelope, type, data: complete[type] }), definitionName(type)).toBe(true)
      expect(whole({ ...envelope, type, data: null }), definitionName(type)).toBe(false)
    }
    expect(whole({ ...envelope, type: 'acme/note', data: null, ignorable: true, sources: [[0, 1]] })).toBe(true)
    expect(whole({ ...envelope, type: 'acme/note', data: null, ignorable: false })).toBe(false)
    expect(whole({ ...envelope, type: 'acme/note', data: null, crc: 'x' })).toBe(false)
  })
})

describe('refusals', () => {
  it('name the deepest place, and never what was found there', () => {
    const calls = [
      { callId: 'c', name: 'n', arguments: 1 },
      { callId: 'c', name: 'a secret', arguments: 1 },
    ]
    const error = refusal('assistant/message', { message: 1, toolCalls: [...calls, { callId: 7, name: 'a secret' }] })
    expect(error).toMatchObject({ code: 'INVALID_EVENT', path: '$.data.toolCalls[2].callId', expected: 'a string' })
    expect(error?.message).not.toContain('secret')
    expect(refusal('session/labels', { labels: { 'a b': 1 } })?.path).toBe('$.data.labels["a b"]')
    expect(refusal('turn/end', { turn: 1, reason: { kind: 'bored' } })?.path).toBe('$.data.reason.kind')
    expect(refusal('turn/end', { turn: 1, reason: { kind: 'failed' } })?.path).toBe('$.data.reason.error')
  })

  it('numbers that are not exact positions', () => {
    for (const turn of [0, -1, 1.5, 2 ** 53, '1', true]) {
      expect(refusal('turn/start', { turn })?.path).toBe('$.data.turn')
    }
  })

  it('fields found on the prototype do not count', () => {
    const data: unknown = JSON.parse('{"__proto__":{"turn":1}}')
    expect(refusal('turn/start', data)?.path).toBe('$.data.turn')
    expect(refusal('session/labels', JSON.parse('{"labels":{"__proto__":"x"}}'))).toBeUndefined()
  })

  it('a type that is not core', () => {
    expect(refusal('acme/note', {})?.code).toBe('UNKNOWN_EVENT')
  })

  it.each([
    { turn: 1, step: 1, kind: 'text', index: 0 },
    { turn: 1, step: 1, kind: 'text', index: -1, text: '' },
    { turn: 1, step: 1, kind: 'tool-arguments', index: 0, text: '' },
    { turn: 1, step: 1, kind: 'tool-arguments', index: 0, callId: 'c', name: 1, text: '' },
    { turn: 1, step: 1, kind: 'other' },
    { turn: 1, step: 1, index: 0, text: '' },
    { turn: 1, kind: 'text', index: 0, text: '' },
  ])('the chunk %j', (chunk) => {
    expect(refusal('assistant/chunk', chunk)?.code).toBe('INVALID_EVENT')
  })
})
