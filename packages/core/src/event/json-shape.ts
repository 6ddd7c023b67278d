/** Shape checks on stored data, which is never validated again by schemas. */
import type { SurfaceType, ToolEffect } from './vocabulary.ts'

export type Fields = { readonly [key: string]: unknown }

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A seq, a number or a count: a safe integer from 0. */
export function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

export function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || is(value)
}

export function isSurfaceType(type: unknown): type is SurfaceType {
  return type === 'user/message' || type === 'assistant/message' || type === 'tool/result'
}

export function isToolEffect(value: unknown): value is ToolEffect {
  return value === 'read-only' || value === 'idempotent' || value === 'side-effect'
}

export function isLabels(value: unknown): value is { readonly [name: string]: string } {
  return isRecord(value) && Object.values(value).every(isString)
}
