import { isSessionError, type SessionError, type SessionErrorCode } from '@session-persistence/core'
import { firstDifference, show } from './first-difference.ts'

/** The backend broke the clause that the case tries. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Fails with `what` unless the condition holds. */
export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Violation(what)
}

/** Fails at the first difference of two JSON values; key order counts. */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  const difference = firstDifference(found, expected)
  if (difference === undefined) return
  throw new Violation(
    `${what}: first difference at ${difference.path}: expected ${difference.expected}, found ${difference.found}`,
  )
}

/** The same, key order ignored. */
export function expectSameValue(found: unknown, expected: unknown, what: string): void {
  const difference = firstDifference(found, expected, { ignoreKeyOrder: true })
  if (difference === undefined) return
  throw new Violation(
    `${what}: first difference at ${difference.path}: expected ${difference.expected}, found ${difference.found}`,
  )
}

/** What the action threw or rejected with; fails when it succeeded. */
export async function rejectionOf(action: () => unknown, what: string): Promise<unknown> {
  let result: unknown
  try {
    result = await action()
  } catch (error) {
    return error
  }
  throw new Violation(`${what}: expected a refusal, but it succeeded with ${show(result)}`)
}

/** The refusal with one of these codes; fails on success, on another code and on an untyped error. */
export async function expectRefusal(
  action: () => unknown,
  codes: SessionErrorCode | readonly SessionErrorCode[],
  what: string,
): Promise<SessionError> {
  const error = await rejectionOf(action, what)
  return expectCode(error, codes, what)
}

/** The error, checked to be a SessionError with one of these codes. */
export function expectCode(
  error: unknown,
  codes: SessionErrorCode | readonly SessionErrorCode[],
  what: string,
): SessionError {
  const wanted: readonly SessionErrorCode[] = typeof codes === 'string' ? [codes] : codes
  if (!isSessionError(error)) throw new Violation(`${what}: expected a SessionError, found ${show(error)}`)
  if (!wanted.includes(error.code)) {
    throw new Violation(`${what}: expected code ${wanted.join(' or ')}, found ${show(error)}`)
  }
  return error
}
