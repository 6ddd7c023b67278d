/** Where a process starts that finds what another one left. */
import type { CaseContext } from '../conformance-case.ts'
import type { DiskImage } from '../crash/disk-image.ts'
import { Violation } from '../expectation.ts'
import { eventsOf, KEPT, lookFor } from './fault-workload.ts'
import { foundPromise, type Promises } from './promises.ts'
import type { Start } from './recorded-run.ts'
import type { TracedMedium } from './traced-medium.ts'

/** Draws other names than the process before, whose files may still be there. */
const SEED = 2

/** What such a process finds at first is what it must keep. Fails where the promises are broken already. */
export async function recoveryStart(
  context: CaseContext,
  medium: TracedMedium,
  left: { readonly image: DiskImage; readonly promises: Promises; readonly when: string },
): Promise<Start> {
  const { image, promises, when } = left
  medium.restore(image)
  const problem = await lookFor(context, promises, [KEPT])
  if (problem !== undefined) throw new Violation(`${when}: ${problem}`)
  const persistence = await context.open()
  const found = await eventsOf(persistence, KEPT)
  await persistence.close()
  const before = promises.get(KEPT)
  if (found === undefined || before === undefined) return { image, promises: new Map(), seed: SEED }
  // Of what was found and never acknowledged another cut may take a part, until something is acknowledged behind it.
  return { image, promises: new Map([[KEPT, foundPromise(before, found)]]), seed: SEED }
}
