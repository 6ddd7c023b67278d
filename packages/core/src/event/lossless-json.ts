/**
 * Lossless JSON: what is read back equals what was appended (contract family DATA; events-and-recovery, envelope).
 *
 * One pass validates, copies and freezes. It is on the hot path of every append, so it knows nothing about paths: when
 * it meets something that JSON would lose, it gives up, and a second, slow pass finds the place and words the error.
 *
 * Refused with INVALID_EVENT: undefined (also as a property's value), functions, symbols and symbol keys, BigInt, NaN
 * and infinities, -0, cycles, sparse arrays, arrays with extra properties, accessors, non-enumerable properties, and
 * every object whose prototype is not that of a plain object or array. Refused with TOO_LARGE: nesting deeper than
 * `LIMITS.depth`, and values that cannot fit `LIMITS.eventBytes`. Lone surrogates, U+0000, own `__proto__` keys and key
 * order survive.
 */
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { Json } from './event.ts'
import { lossOf } from './lossless-loss.ts'
import { isPlainPrototype } from './plain-prototype.ts'

export interface LosslessCopy {
  /** Deep-frozen; equal to what was passed in. */
  readonly value: Json
  /** A lower bound of the UTF-8 bytes of the value's JSON. The true number is at most six times as large. */
  readonly size: number
}

/** Below this many bytes copying again is cheaper than remembering. */
const REMEMBERED_SIZE_MIN = 1024

/** What this module made before, so that a message that is appended again is shared and not copied. */
const made = new WeakMap<object, { readonly size: number; readonly height: number }>()

/** Thrown by the quick pass; never leaves this file. */
const LOSSY: unique symbol = Symbol('lossy')

// The state of the pass that is running. Module variables, because a delta is copied in a fraction of a microsecond
// and an object for each pass would be felt.
let size = 0
let deepest = 0
/** Large parts of the source that this pass has met, with their copies: a part that is shared is copied once. */
let copies: Map<object, object> | undefined

/**
 * Validates, copies and deep-freezes `value`. INVALID_EVENT and TOO_LARGE name the place as a JSON path that starts
 * with `path`; TOO_LARGE names the limit.
 */
export function losslessCopy(value: unknown, path: string = '$'): LosslessCopy {
  // A proxy's trap may append in the middle of this pass: keep the outer pass's state.
  const outerSize = size
  const outerDeepest = deepest
  const outerCopies = copies
  size = 0
  deepest = 0
  copies = undefined
  try {
    const copy = copyOf(value, 0)
    if (size > LIMITS.eventBytes) throw LOSSY
    return { value: copy, size }
  } catch (error) {
    if (error === LOSSY) throw lossOf(value, path)
    // The caller's stack may be nearly used up: not the value's fault.
    if (error instanceof RangeError) throw error
    throw new SessionError('INVALID_EVENT', `Not lossless JSON: a proxy threw, below ${path}`, { path, cause: error })
  } finally {
    size = outerSize
    deepest = outerDeepest
    copies = outerCopies
  }
}

function copyOf(value: unknown, depth: number): Json {
  switch (typeof value) {
    case 'string':
      size += value.length + 2
      return value
    case 'number':
      size += numberSize(value)
      return value
    case 'boolean':
      size += 4
      return value
    case 'object':
      if (value === null) {
        size += 4
        return null
      }
      return containerCopy(value, depth + 1)
    default:
      throw LOSSY
  }
}

/**
 * A lower bound of the characters, at least a sixth of the true number. Told without making the text, which costs as
 * much as everything else that is done for a number.
 */
function numberSize(value: number): number {
  if (value === (value | 0)) {
    if (value === 0 && Object.is(value, -0)) throw LOSSY
    return value >= 0 && value < 10 ? 1 : 2
  }
  if (!Number.isFinite(value)) throw LOSSY
  if (Number.isSafeInteger(value)) return 10
  // From `1e+21`, or sixteen digits, to the 24 characters of the longest.
  if (Number.isInteger(value)) return 5
  // From `0.5` to 18 characters with at most three decimals; with more from `1e-7` to 24.
  const size = value === Math.round(value * 1000) / 1000 ? 3 : 4
  return value < 0 ? size + 1 : size
}

function containerCopy(source: object, depth: number): Json {
  const value = copies?.get(source) ?? source
  const known = made.get(value)
  if (known !== undefined) {
    if (depth + known.height - 1 > LIMITS.depth) throw LOSSY
    if (depth + known.height - 1 > deepest) deepest = depth + known.height - 1
    size += known.size
    return value as Json
  }
  // A cycle ends here too. The size bound ends a value whose shared parts multiply.
  if (depth > LIMITS.depth || size > LIMITS.eventBytes) throw LOSSY

  const sizeBefore = size
  const deepestBefore = deepest
  deepest = depth
  const copy = Array.isArray(value) ? arrayCopy(value, depth) : objectCopy(value, depth)
  const ownSize = size - sizeBefore
  if (ownSize >= REMEMBERED_SIZE_MIN) {
    made.set(copy, { size: ownSize, height: deepest - depth + 1 })
    copies ??= new Map()
    copies.set(source, copy)
  }
  if (deepestBefore > deepest) deepest = deepestBefore
  return copy
}

function arrayCopy(value: readonly unknown[], depth: number): Json & object {
  if (!isPlainPrototype(value, Array.prototype)) throw LOSSY
  const length = value.length
  // Elements, and `length` itself: anything else would be lost. (A hole shows as undefined below.)
  if (Reflect.ownKeys(value).length !== length + 1) throw LOSSY
  size += length === 0 ? 2 : length + 1
  const copy: Json[] = []
  for (let index = 0; index < length; index++) {
    const descriptor = Object.getOwnPropertyDescriptor(value, index)
    if (descriptor === undefined || descriptor.enumerable !== true || !('value' in descriptor)) throw LOSSY
    copy.push(copyOf(descriptor.value, depth))
  }
  return Object.freeze(copy)
}

function objectCopy(value: object, depth: number): Json & object {
  if (!isPlainPrototype(value, Object.prototype)) throw LOSSY
  const keys = Object.getOwnPropertyNames(value)
  if (Object.getOwnPropertySymbols(value).length !== 0) throw LOSSY
  size += keys.length === 0 ? 2 : keys.length + 1
  const copy: { [key: string]: Json } = {}
  for (const key of keys) {
    // The value is taken from the descriptor: it tells an accessor apart, and reads the property once.
    const descriptor = Object.getOwnPropertyDescriptor(value, key)
    if (descriptor === undefined || descriptor.enumerable !== true || !('value' in descriptor)) throw LOSSY
    size += key.length + 3
    const child = copyOf(descriptor.value, depth)
    if (key === '__proto__') defineProtoKey(copy, child)
    else copy[key] = child
  }
  return Object.freeze(copy)
}

/** Assigning to `__proto__` would set the prototype; defining makes it a property like any other. */
function defineProtoKey(copy: { [key: string]: Json }, value: Json): void {
  Object.defineProperty(copy, '__proto__', { value, enumerable: true, configurable: true, writable: true })
}
