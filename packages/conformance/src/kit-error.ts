import { HarnessError } from './harness.ts'
import { sentenceOf } from './short-value.ts'

/** Lines of a stack that tell where in the kit it was. */
const STACK_LINES = 6

/**
 * The error of a case in which the kit itself failed, where it can be told: a call of the system that the kit made and
 * that no call of the backend answered with. Undefined for everything else, which the backend has to answer for: also
 * a TypeError over a value that it returned.
 */
export function kitError(
  error: unknown,
  id: string,
  isOfBackend: (error: unknown) => boolean,
): HarnessError | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || isOfBackend(error)) return undefined
  const stack = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const sentence = `kit error: the kit itself failed in ${id}, not the backend: ${sentenceOf(error)}`
  return new HarnessError([sentence, ...stack.slice(0, STACK_LINES)].join('\n'))
}
