/** The conformance tier *io*: calls of the backend to its file system fail, once and for ever. */
import type { CaseContext, ConformanceCase } from '@session-persistence/conformance'
import { durableImage, faultCase } from '@session-persistence/conformance/crash-states'
import { isSessionError } from '@session-persistence/core'
import { FAULTS, type Fault } from '../model/fault.ts'
import type { ModelFileSystem } from '../model/model-file-system.ts'
import { Machine, type OpenOnPort } from './port-harness.ts'
import { converse, eventsOf, expectKept, newProgress, type Progress, SESSION_ID } from './port-workload.ts'

/** Tries of a flush: a fault that passes must pass within them. */
const RETRIES = 60

interface Struck {
  readonly fault: Fault
  readonly call: number
  readonly lasting: boolean
}

function strike({ fault, call, lasting }: Struck): { readonly decide: ModelFileSystem['decide']; reached(): boolean } {
  let calls = 0
  const decide = (): Fault | undefined => {
    const at = calls++
    return at === call || (lasting && at > call) ? fault : undefined
  }
  return { decide, reached: () => calls > call }
}

/** Every call with every fault, or a part of them; until the work has fewer calls. */
async function everywhere(
  context: CaseContext,
  lasting: boolean,
  step: (struck: Struck) => Promise<boolean>,
): Promise<void> {
  for (let call = 0; ; call++) {
    let reached = false
    for (const [index, fault] of FAULTS.entries()) {
      if (context.effort === 'quick' && (index + call) % FAULTS.length !== 0) continue
      reached = (await step({ fault, call, lasting })) || reached
    }
    if (!reached) return
  }
}

/** What is thrown by a failing disk has a type, and never says that a session is missing or damaged. */
function requireHonest(error: unknown, { fault, call }: Struck): void {
  const where = `${fault.code} (${fault.effect}) at call ${call}`
  if (!isSessionError(error)) throw new Error(`an error without a type after ${where}: ${String(error)}`)
  if (error.code === 'NOT_FOUND' || error.code === 'CORRUPT') throw new Error(`${where} was reported as ${error.code}`)
}

async function storedUnder(machine: Machine, struck: Struck, progress: Progress): Promise<boolean> {
  const { decide, reached } = strike(struck)
  try {
    const persistence = await machine.start(decide)
    const session = await persistence.create({ id: SESSION_ID })
    try {
      await converse(session, progress, struck.lasting ? 1 : RETRIES)
      await session.close()
    } catch (error) {
      requireHonest(error, struck)
      await session.abandon().catch(() => {})
    }
    await persistence.close().catch(() => {})
  } catch (error) {
    requireHonest(error, struck)
  }
  return reached()
}

async function requireKept(machine: Machine, progress: Progress, { fault, call }: Struck): Promise<void> {
  const persistence = await machine.start()
  expectKept(await eventsOf(persistence), progress, `after ${fault.code} (${fault.effect}) at call ${call}`)
  await persistence.close()
}

/** Stores under every failing call, and looks at what is left when the disk is well again. */
async function storeEverywhere(context: CaseContext, openOnPort: OpenOnPort, lasting: boolean): Promise<void> {
  await everywhere(context, lasting, async (struck) => {
    const machine = new Machine(openOnPort)
    const progress = newProgress()
    const reached = await storedUnder(machine, struck, progress)
    await requireKept(machine, progress, struck)
    return reached
  })
}

async function resumeEverywhere(context: CaseContext, openOnPort: OpenOnPort): Promise<void> {
  await everywhere(context, false, async (struck) => {
    const machine = new Machine(openOnPort)
    const progress = newProgress()
    const first = await machine.start()
    const session = await first.create({ id: SESSION_ID })
    await converse(session, progress)
    await first.close()
    const { decide, reached } = strike(struck)
    try {
      const persistence = await machine.start(decide)
      const resumed = await persistence.resume(SESSION_ID)
      await resumed.close().catch((error: unknown) => requireHonest(error, struck))
      await persistence.close().catch(() => {})
    } catch (error) {
      requireHonest(error, struck)
    }
    const again = await machine.start()
    const found = (await eventsOf(again))?.slice(0, progress.submitted.length)
    expectKept(found, progress, `after a resume with ${struck.fault.code} at call ${struck.call}`)
    await again.close()
    return reached()
  })
}

/** The model drops what a failed sync could not write: what was acknowledged since must be on its medium all the same. */
async function cutAfterFailures(context: CaseContext, openOnPort: OpenOnPort): Promise<void> {
  await everywhere(context, false, async (struck) => {
    const machine = new Machine(openOnPort)
    const progress = newProgress()
    const reached = await storedUnder(machine, struck, progress)
    await requireKept(new Machine(openOnPort, durableImage(machine.disk)), progress, struck)
    return reached
  })
}

export function ioCases(openOnPort: OpenOnPort): readonly ConformanceCase[] {
  return [
    faultCase('IO-1', (context) => storeEverywhere(context, openOnPort, false)),
    faultCase('IO-2', (context) => storeEverywhere(context, openOnPort, true)),
    faultCase('IO-3', (context) => resumeEverywhere(context, openOnPort)),
    faultCase('IO-4', (context) => cutAfterFailures(context, openOnPort)),
  ]
}
