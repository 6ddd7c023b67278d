/** The conformance tier *power*: what was not on the medium is lost, in every way that the assumptions allow. */

import type { CaseContext, ConformanceCase } from '@session-persistence/conformance'
import {
  type CrashImage,
  drawnImages,
  durableImage,
  faultCase,
  moments,
  Random,
  Recording,
} from '@session-persistence/conformance/crash-states'
import { Machine, type OpenOnPort } from './port-harness.ts'
import { converse, eventsOf, expectKept, newProgress, type Progress, SESSION_ID } from './port-workload.ts'

/** Crash states after one operation. */
const STATES = { quick: 4, full: 60 } as const

interface Recorded {
  readonly recording: Recording<never>
  /** What was promised after so many operations. */
  readonly promises: readonly { readonly from: number; readonly acknowledged: number }[]
  readonly progress: Progress
}

/** Stores a session on a machine of its own, and notes what was promised when. */
async function recorded(openOnPort: OpenOnPort): Promise<Recorded> {
  const machine = new Machine(openOnPort)
  const recording = new Recording<never>()
  const progress = newProgress()
  const promises = [{ from: 0, acknowledged: 0 }]
  const persistence = await machine.start(undefined, recording)
  const session = await persistence.create({ id: SESSION_ID })
  const noted: Progress = {
    submitted: progress.submitted,
    get acknowledged() {
      return progress.acknowledged
    },
    set acknowledged(count: number) {
      progress.acknowledged = count
      promises.push({ from: recording.operations.length, acknowledged: count })
    },
  }
  await converse(session, noted)
  await session.close()
  await persistence.close()
  return { recording, promises, progress }
}

/** Cuts the power after every operation, and hands over each state with what had been promised. */
async function cutEverywhere(
  { effort, random }: CaseContext,
  { recording, promises, progress }: Recorded,
  verify: (image: ReturnType<CrashImage>, promised: Progress, when: string) => Promise<void>,
): Promise<void> {
  const drawn = new Random(Math.floor(random() * 2 ** 32))
  for (const { at, disk } of moments(recording.operations, undefined as never)) {
    const acknowledged = promises.findLast(({ from }) => from <= at)?.acknowledged ?? 0
    for (const make of drawnImages(disk, { random: drawn, step: 7 + drawn.below(40) }, STATES[effort])) {
      await verify(make(), { submitted: progress.submitted, acknowledged }, `after a power cut at operation ${at}`)
    }
  }
}

export function powerCases(openOnPort: OpenOnPort): readonly ConformanceCase[] {
  return [
    faultCase(
      'POWER-1',
      async (context) =>
        await cutEverywhere(context, await recorded(openOnPort), async (image, promised, when) => {
          const persistence = await new Machine(openOnPort, image).start()
          expectKept(await eventsOf(persistence), promised, when)
          await persistence.close()
        }),
    ),
    faultCase(
      'POWER-2',
      async (context) =>
        await cutEverywhere(context, await recorded(openOnPort), async (image, promised, when) => {
          const machine = new Machine(openOnPort, image)
          const persistence = await machine.start()
          const found = await eventsOf(persistence)
          const session =
            found === undefined ? await persistence.create({ id: SESSION_ID }) : await persistence.resume(SESSION_ID)
          const [added] = session.appendAll([
            { type: 'user/message', data: { message: { role: 'user', content: 'on' } } },
          ])
          await session.flush()
          const next = await new Machine(openOnPort, durableImage(machine.disk)).start()
          const kept = (await eventsOf(next)) ?? []
          expectKept(kept.slice(0, found?.length ?? 0), promised, `${when}, a resume, and another cut`)
          if (JSON.stringify(kept.find(({ seq }) => seq === added?.seq)) !== JSON.stringify(added)) {
            throw new Error(`what was appended ${when} is gone after the next cut`)
          }
          await next.close()
          await persistence.close()
        }),
    ),
    faultCase('POWER-3', async () => {
      const machine = new Machine(openOnPort)
      const persistence = await machine.start()
      const session = await persistence.create({ id: SESSION_ID })
      await converse(session, newProgress())
      await session.close()
      await persistence.delete(SESSION_ID)
      for (const make of drawnImages(machine.disk, { random: new Random(1) }, STATES.full)) {
        const after = await new Machine(openOnPort, make()).start()
        if ((await eventsOf(after)) !== undefined) throw new Error('the deleted session came back')
        await after.close()
      }
      await persistence.close()
    }),
  ]
}
