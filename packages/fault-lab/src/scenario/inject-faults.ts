/** Every call of every write path fails, once or from then on; then the disk is well again, and the power is cut. */
import { durableImage, Random } from '@session-persistence/conformance/crash-states'
import { isSessionError } from '@session-persistence/core'
import { FAULTS, type Fault } from '../model/fault.ts'
import type { Evidence } from './evidence.ts'
import type { Expectation } from './expectation.ts'
import type { FileBackend } from './file-backend.ts'
import type { Scenario } from './scenario.ts'
import { Stage, type Weakness } from './stage.ts'
import { verifyImage } from './verify-image.ts'

export interface Injection {
  readonly fault: Fault
  readonly lasting: boolean
}

/** Each error, once and from then on. */
export const INJECTIONS: readonly Injection[] = FAULTS.flatMap((fault) => [
  { fault, lasting: false },
  { fault, lasting: true },
])

/** Runs `scenario` once for each of its calls; resolves with the number of runs. `choose` picks the injections of a call. */
export async function injectEverywhere(
  backend: FileBackend,
  scenario: Scenario,
  evidence: Evidence,
  choose: (call: number) => readonly Injection[],
  weaken?: Weakness,
): Promise<number> {
  let runs = 0
  for (let call = 0; ; call++) {
    let reached = false
    for (const injection of choose(call)) {
      runs++
      reached = (await injectOnce({ backend, scenario, evidence, call, injection, weaken })) || reached
      if (evidence.enough) return runs
    }
    if (!reached) return runs
  }
}

interface Run {
  readonly backend: FileBackend
  readonly scenario: Scenario
  readonly evidence: Evidence
  readonly call: number
  readonly injection: Injection
  readonly weaken: Weakness | undefined
}

/** False when the scenario has fewer calls. */
async function injectOnce({ backend, scenario, evidence, call, injection, weaken }: Run): Promise<boolean> {
  const { fault, lasting } = injection
  let calls = 0
  let called = ''
  const stage = new Stage(backend, new Random(11), {
    ...(weaken === undefined ? {} : { weaken }),
    ...(scenario.id === undefined ? {} : { id: scenario.id }),
    decide: ({ name, path }) => {
      const at = calls++
      if (at === call) called = `${name} ${path.split('/').at(-1)}`
      return at === call || (lasting && at > call) ? fault : undefined
    },
  })
  const report = (problem: string): void => {
    const operation = `${fault.code} (${fault.effect}, ${lasting ? 'for ever' : 'once'}) at call ${call}, ${called}`
    evidence.violations.push({ scenario: scenario.name, seed: 11, after: call, operation, problem })
  }
  try {
    await scenario.run(stage)
  } catch (error) {
    if (!isSessionError(error)) report(`an error without a type: ${error instanceof Error ? error.stack : error}`)
    else if (error.code === 'NOT_FOUND' || (error.code === 'CORRUPT' && !isDamaged(stage)))
      report(`a failing disk was reported as ${error.code}`)
  }
  const expected = lastPromise(stage)
  const image = durableImage(stage.disk)
  const problem = await verifyImage(backend, image, expected, { thorough: true })
  if (problem !== undefined) report(problem)
  return calls > call
}

function lastPromise(stage: Stage): Expectation {
  let expected: Expectation = stage.initially
  for (const operation of stage.recording.operations) if (operation.kind === 'mark') expected = operation.expected
  return expected
}

function isDamaged(stage: Stage): boolean {
  return lastPromise(stage).damaged === true
}
