/** The slow half of `losslessCopy`: finds the first thing in a value that JSON would lose, and says where it is. */
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { childPath } from './json-path.ts'
import { isPlainPrototype } from './plain-prototype.ts'

/** The error for a value that the quick pass gave up on. */
export function lossOf(value: unknown, path: string): SessionError {
  return (
    findLoss(value, path, { ancestors: [], clean: new Map() }) ??
    // Nothing is lost, so the quick pass stopped at the size.
    new SessionError('TOO_LARGE', `The value at ${path} exceeds the limit eventBytes (${LIMITS.eventBytes} bytes)`, {
      path,
      expected: LIMITS.eventBytes,
    })
  )
}

interface Search {
  readonly ancestors: object[]
  /** Containers without a loss, with the greatest depth that they were seen at: shared parts are searched once. */
  readonly clean: Map<object, number>
}

function invalid(path: string, what: string): SessionError {
  return new SessionError('INVALID_EVENT', `Not lossless JSON: ${what} at ${path}`, { path })
}

function findLoss(value: unknown, path: string, search: Search): SessionError | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      if (!Number.isFinite(value)) return invalid(path, String(value))
      return Object.is(value, -0) ? invalid(path, '-0') : undefined
    case 'object':
      return value === null ? undefined : findLossInside(value, path, search)
    case 'bigint':
      return invalid(path, 'a BigInt')
    case 'undefined':
      return invalid(path, 'undefined')
    default:
      return invalid(path, `a ${typeof value}`)
  }
}

function findLossInside(value: object, path: string, search: Search): SessionError | undefined {
  const { ancestors, clean } = search
  if (ancestors.includes(value)) return invalid(path, 'a cycle')
  const depth = ancestors.length + 1
  if ((clean.get(value) ?? 0) >= depth) return undefined
  if (depth > LIMITS.depth) {
    return new SessionError('TOO_LARGE', `Nested deeper than the limit depth (${LIMITS.depth})`, {
      path,
      expected: LIMITS.depth,
    })
  }
  const isArray = Array.isArray(value)
  if (!isPlainPrototype(value, isArray ? Array.prototype : Object.prototype)) {
    return invalid(path, 'an object that is neither plain nor an array')
  }
  ancestors.push(value)
  const found = isArray ? findLossInArray(value, path, search) : findLossInObject(value, path, search)
  ancestors.pop()
  if (found !== undefined) return found
  if (Object.getOwnPropertySymbols(value).length > 0) return invalid(path, 'a symbol key')
  clean.set(value, depth)
  return undefined
}

function findLossInArray(value: readonly unknown[], path: string, search: Search): SessionError | undefined {
  for (let index = 0; index < value.length; index++) {
    const place = childPath(path, index)
    const property = Object.getOwnPropertyDescriptor(value, index)
    if (property === undefined) return invalid(place, 'a hole of a sparse array')
    const found = findLossInProperty(property, place, search)
    if (found !== undefined) return found
  }
  // Index keys come first, then `length`, then what does not belong to an array.
  const extra = Object.getOwnPropertyNames(value)[value.length + 1]
  return extra === undefined ? undefined : invalid(childPath(path, extra), 'an extra property of an array')
}

function findLossInObject(value: object, path: string, search: Search): SessionError | undefined {
  for (const name of Object.getOwnPropertyNames(value)) {
    const place = childPath(path, name)
    const property = Object.getOwnPropertyDescriptor(value, name)
    const found = property === undefined ? undefined : findLossInProperty(property, place, search)
    if (found !== undefined) return found
  }
  return undefined
}

function findLossInProperty(property: PropertyDescriptor, path: string, search: Search): SessionError | undefined {
  if (property.get !== undefined || property.set !== undefined) return invalid(path, 'an accessor')
  if (property.enumerable !== true) return invalid(path, 'a non-enumerable property')
  return findLoss(property.value, path, search)
}
