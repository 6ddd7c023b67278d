/** Opens what a crash left on the real file system, as the next process would. */
import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import { type Expectation, violation } from '../scenario/expectation.ts'
import { readSession } from '../scenario/read-session.ts'
import { recoverAndContinue } from '../scenario/recover-and-continue.ts'
import { openReal, type RealBackend } from './real-backend.ts'
import type { WriterLine } from './writer-task.ts'

/** What must be found after a writer of `events` said `lines`. */
export function expectationAfter(
  id: string,
  events: readonly AnySessionEvent[],
  lines: readonly WriterLine[],
): Expectation {
  let submitted = 0
  let acknowledged = 0
  for (const { word, events: count } of lines) {
    if (word === 'submit') submitted = Math.max(submitted, count)
    if (word === 'ack') acknowledged = Math.max(acknowledged, count)
  }
  const history = { events: events.slice(0, submitted), atLeast: acknowledged }
  const absent = acknowledged > 0 ? 'forbidden' : submitted > 0 ? 'allowed' : 'required'
  return { id, histories: [history], absent }
}

/** Undefined when all is well, else what is wrong. `thorough`: also resumes, appends and reads once more. */
export async function verifyReal(
  backend: RealBackend,
  directory: string,
  expected: Expectation,
  { thorough }: { readonly thorough: boolean },
): Promise<string | undefined> {
  const storage = openReal(backend, directory)
  try {
    const found = await readSession(storage, expected.id)
    const wrong = violation(expected, found)
    if (wrong !== undefined || !thorough) return wrong
    let promised = expected
    const problem = await recoverAndContinue(storage, expected, (next) => {
      promised = next
    })
    if (problem !== undefined) return problem
    const after = violation(promised, await readSession(storage, expected.id))
    if (after !== undefined) return `resumed and continued: ${after}`
    const { problems } = await storage.check(expected.id)
    return problems.length === 0 ? undefined : `the check finds: ${problems[0]?.message}`
  } catch (error) {
    return isSessionError(error) ? `${error.code}: ${error.message}` : `an error without a type: ${String(error)}`
  } finally {
    await storage.close()
  }
}
