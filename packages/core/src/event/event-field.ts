/** The small language in which the vocabulary table describes event data. */

/** What a field may hold. Named shapes (`ErrorInfo`, ...) are in shared-shapes.ts. */
export type EventFieldType =
  | { readonly kind: 'any' }
  | { readonly kind: 'string' }
  | { readonly kind: 'integer'; readonly minimum: number }
  | { readonly kind: 'literal'; readonly values: readonly (string | true)[] }
  | { readonly kind: 'array'; readonly items: EventFieldType }
  | { readonly kind: 'map'; readonly values: EventFieldType }
  | { readonly kind: 'shape'; readonly name: EventShapeName }

export interface EventField {
  readonly name: string
  readonly type: EventFieldType
  readonly required: boolean
  readonly description: string
}

/** One object whose fields depend on the value of its field `kind`. */
export interface EventVariant {
  readonly kinds: readonly string[]
  readonly description: string
  readonly fields: readonly EventField[]
}

export interface EventShape {
  readonly description: string
  readonly fields: readonly EventField[]
  /** Present on an object with a field `kind`; one of them applies. */
  readonly variants?: readonly EventVariant[]
}

export type EventShapeName = 'ErrorInfo' | 'TurnEndReason' | 'ToolCall' | 'Usage' | 'MessageSource' | 'Synthetic'

export const any: EventFieldType = { kind: 'any' }
export const string: EventFieldType = { kind: 'string' }
export const integer = (minimum: number): EventFieldType => ({ kind: 'integer', minimum })
export const oneOf = (...values: readonly (string | true)[]): EventFieldType => ({ kind: 'literal', values })
export const listOf = (items: EventFieldType): EventFieldType => ({ kind: 'array', items })
export const shape = (name: EventShapeName): EventFieldType => ({ kind: 'shape', name })

export const must = (name: string, type: EventFieldType, description: string): EventField => ({
  name,
  type,
  required: true,
  description,
})
export const may = (name: string, type: EventFieldType, description: string): EventField => ({
  name,
  type,
  required: false,
  description,
})
