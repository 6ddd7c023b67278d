/**
 * The hot path of a streaming harness: of a hundred events ninety-six are small deltas. One function does for them at
 * once what `lossless-json` and `core-event` do for every event, to the same effect: it takes the delta, or leaves the
 * verdict and its wording to them.
 */

/** A copy of a delta with exactly the documented keys, in the documented order. */
export type PlainDelta =
  | {
      readonly turn: number
      readonly step: number
      readonly kind: 'text' | 'reasoning'
      readonly index: number
      readonly text: string
    }
  | {
      readonly turn: number
      readonly step: number
      readonly kind: 'tool-arguments'
      readonly index: number
      readonly callId: string
      readonly name?: string
      readonly text: string
    }

/** Bytes of a delta as JSON without its texts: a lower bound, at least a sixth of the true number. */
const FIELDS_SIZE = 50

const descriptorOf = Object.getOwnPropertyDescriptor

/**
 * Takes the data of an `assistant/chunk` when it is a plain object of nothing but the fields of a delta, each valid:
 * returns a frozen copy. Undefined for everything else, be it valid or not.
 */
export function plainDelta(value: unknown): PlainDelta | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    return Object.getPrototypeOf(value) === Object.prototype ? takeDelta(value) : undefined
  } catch {
    // A proxy threw: who judges it next says so.
    return undefined
  }
}

/** A lower bound of the delta's UTF-8 bytes as JSON. The true number is at most six times as large. */
export function plainDeltaSize(delta: PlainDelta): number {
  if (delta.kind !== 'tool-arguments') return FIELDS_SIZE + delta.text.length
  return FIELDS_SIZE + delta.text.length + delta.callId.length + (delta.name === undefined ? 0 : delta.name.length)
}

function takeDelta(value: object): PlainDelta | undefined {
  const names = Object.getOwnPropertyNames(value)
  const count = names.length
  if (names[0] !== 'turn' || names[1] !== 'step' || names[2] !== 'kind' || names[3] !== 'index') return undefined
  if (count < 5 || count > 7 || names[count - 1] !== 'text') return undefined
  // Each property is read once, from its descriptor, which tells accessors apart.
  const turn = fieldOf(value, 'turn')
  const step = fieldOf(value, 'step')
  const kind = fieldOf(value, 'kind')
  const index = fieldOf(value, 'index')
  const text = fieldOf(value, 'text')
  if (!isCount(turn) || turn < 1 || !isCount(step) || step < 1 || !isCount(index) || typeof text !== 'string') {
    return undefined
  }
  if (Object.getOwnPropertySymbols(value).length !== 0) return undefined
  if (kind === 'text' || kind === 'reasoning') {
    return count === 5 ? Object.freeze({ turn, step, kind, index, text }) : undefined
  }
  if (kind !== 'tool-arguments' || names[4] !== 'callId') return undefined
  const callId = fieldOf(value, 'callId')
  if (typeof callId !== 'string') return undefined
  if (count === 6) return Object.freeze({ turn, step, kind, index, callId, text })
  const name = fieldOf(value, 'name')
  if (typeof name !== 'string') return undefined
  return Object.freeze({ turn, step, kind, index, callId, name, text })
}

/** Undefined for an accessor and for what is not enumerable. */
function fieldOf(value: object, key: string): unknown {
  const descriptor = descriptorOf(value, key)
  return descriptor?.enumerable === true ? descriptor.value : undefined
}

/** A safe integer from 0; not -0, which JSON would lose. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
}
