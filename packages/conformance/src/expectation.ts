import { isSessionError, type SessionError, type SessionErrorCode } from '@session-persistence/core'
import { differenceWindow, firstDifference, show } from './first-difference.ts'
import { shortValue } from './short-value.ts'

/** The backend broke the clause that the case tries. */
export class Violation extends Error {
  override readonly name = 'Violation'
  /** The items around the first difference, as lines of a small patch. */
  readonly window: readonly string[]

  constructor(message: string, window: readonly string[] = []) {
    super(message)
    this.window = window
  }
}

/** Fails with `what` unless the condition holds. */
export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Violation(what)
}

/** Fails at the first difference of two JSON values; key order counts. */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  expectNoDifference(found, expected, what, {})
}

/** The same, key order ignored. */
export function expectSameValue(found: unknown, expected: unknown, what: string): void {
  expectNoDifference(found, expected, what, { ignoreKeyOrder: true })
}

function expectNoDifference(
  found: unknown,
  expected: unknown,
  what: string,
  options: { readonly ignoreKeyOrder?: boolean },
): void {
  const difference = firstDifference(found, expected, options)
  if (difference === undefined) return
  throw new Violation(
    `${what}: first difference at ${difference.path}: expected ${difference.expected}, found ${difference.found}`,
    differenceWindow(found, expected, difference.path),
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
  throw new Violation(`${what}: expected a refusal, but it succeeded with ${shortValue(result)}`)
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
