import type { BackendDescription, SessionPersistence } from '@session-persistence/core'
import { wrongCapability } from './capability-levels.ts'
import { CLOCK_START, type Tier } from './conformance-case.ts'
import { withDeadline } from './deadline.ts'
import { type Harness, HarnessError, type Medium } from './harness.ts'
import { HARNESS_DEADLINE_MS, type MediumSource } from './medium-source.ts'
import { openFilesOf } from './open-files.ts'
import { sentenceOf } from './short-value.ts'
import { waitUntil } from './wait-until.ts'
import { spawnWorker, workerIsBuilt } from './worker-process.ts'

/** What the first look at a harness tells. */
export interface Probe {
  readonly description: BackendDescription
  /** Tiers that cannot be exercised, with the reason. */
  readonly missing: ReadonlyMap<Tier, string>
}

/** Stored in the first medium, and looked for in the second. */
const MARKER = 'stored-in-the-first-medium'

/**
 * Makes two media, opens both and stores a session in the first, to see what the backend declares, which tiers the
 * harness unlocks, and that the harness itself is sound. Throws {@link HarnessError} with a sentence when it is not.
 */
export async function probeHarness(
  harness: Harness,
  source: MediumSource,
  wanted: { readonly process: boolean; readonly deadlineMs?: number | undefined },
): Promise<Probe> {
  const deadlineMs = wanted.deadlineMs ?? HARNESS_DEADLINE_MS
  const first = await source.create()
  const persistence = await openFirst(harness, first, deadlineMs)
  const { description } = persistence
  const problem = wrongDescription(description)
  if (problem !== undefined) throw new HarnessError(problem)
  if ((await idsIn(persistence)).length > 0) {
    throw new HarnessError(`createMedium of ${harness.name} returned a medium that already holds sessions.`)
  }
  const stored = await storeMarker(persistence)
  if (stored === 'by-another-clock') {
    throw new HarnessError(
      `The options given to \`open\` of ${harness.name} do not reach the backend, which took another clock than the one given: pass them on, as in \`open: (options) => openBackend({ ...options, root })\`.`,
    )
  }
  await closeWhole(harness, first, persistence, deadlineMs)
  const files = await source.filesOf(first)
  if (stored === 'stored' && files?.length === 0) {
    throw new HarnessError(`\`files\` of ${harness.name} lists no file although a session is stored: list all of them.`)
  }
  const second = await source.create()
  const other = await openFirst(harness, second, deadlineMs)
  const shared = (await idsIn(other)).includes(MARKER)
  const outlives = description.capabilities.durability !== 'memory'
  const isLookedFor = !shared && outlives && (await storeMarker(other)) === 'stored'
  await closeWhole(harness, second, other, deadlineMs)
  if (shared) {
    throw new HarnessError(
      `createMedium of ${harness.name} returned the same place twice: a session stored in the first medium is in the second one. Make a new, empty place at every call.`,
    )
  }
  const hasBytes = files !== undefined || first.records !== undefined
  const missing = missingTiers(harness, first.location, hasBytes)
  if (wanted.process && !missing.has('process')) {
    await tryOtherProcess(harness, second.location ?? '', isLookedFor, deadlineMs)
  }
  await source.destroyWhole(first)
  await source.destroyWhole(second)
  return { description, missing }
}

async function openFirst(harness: Harness, medium: Medium, deadlineMs: number): Promise<SessionPersistence> {
  const { name } = harness
  try {
    const opening = Promise.resolve().then(() => medium.open({ clock: () => CLOCK_START, onFailure: () => {} }))
    return await withDeadline(opening, deadlineMs, () => {
      return new HarnessError(`\`open\` of ${name} did not return within ${deadlineMs / 1000} s: it hangs.`)
    })
  } catch (error) {
    if (error instanceof HarnessError) throw error
    throw new HarnessError(`\`open\` of a new medium of ${name} failed: ${sentenceOf(error)}`)
  }
}

function wrongDescription(description: BackendDescription | undefined): string | undefined {
  if (typeof description !== 'object' || typeof description?.capabilities !== 'object') {
    return 'What `open` returns has no `description` with `capabilities`: it must be a SessionPersistence, for example of createPersistence(storage, options).'
  }
  return wrongCapability({ ...description.capabilities })
}

/** Ids listed; none where listing fails, which is for the cases to tell. */
async function idsIn(persistence: SessionPersistence): Promise<readonly string[]> {
  try {
    return (await withDeadline(persistence.list(), HARNESS_DEADLINE_MS, () => undefined)).sessions.map(({ id }) => id)
  } catch {
    return []
  }
}

/**
 * Tells whether the options of `open` reached the backend: it then stamps events with the clock given, and with that of
 * the machine where they were dropped. Where storing fails there is nothing to tell: an unfinished backend gets
 * verdicts, not an error of its harness.
 */
async function storeMarker(persistence: SessionPersistence): Promise<'stored' | 'by-another-clock' | 'failed'> {
  try {
    const session = await persistence.create({ id: MARKER })
    const before = Date.now()
    const { time } = session.append('session/title', { title: 'x' })
    const after = Date.now()
    await withDeadline(session.close(), HARNESS_DEADLINE_MS, () => undefined)
    return time >= before && time <= after ? 'by-another-clock' : 'stored'
  } catch {
    return 'failed'
  }
}

async function closeWhole(
  harness: Harness,
  medium: Medium,
  persistence: SessionPersistence,
  deadlineMs: number,
): Promise<void> {
  try {
    await withDeadline(persistence.close(), deadlineMs, () => {
      return new HarnessError(`\`close\` of the persistence of ${harness.name} did not return: it hangs.`)
    })
  } catch (error) {
    if (error instanceof HarnessError) throw error
    throw new HarnessError(`\`close\` of the persistence of ${harness.name} failed: ${sentenceOf(error)}`)
  }
  const { location } = medium
  if (location === undefined || (await waitUntil(async () => openFilesOf(location, []).length === 0))) return
  throw leakError(harness, openFilesOf(location, [])[0] ?? location)
}

/** The sentence for a file that is open after everything was closed. */
export function leakError({ name }: Harness, path: string, during = ''): HarnessError {
  return new HarnessError(
    `${name} leaks a handle: ${path} is still open after everything was closed${during}. \`close\` of the persistence must release all that its sessions and reads opened.`,
  )
}

function missingTiers(harness: Harness, location: string | undefined, hasBytes: boolean): ReadonlyMap<Tier, string> {
  const missing = new Map<Tier, string>()
  if (harness.module === undefined || harness.openAt === undefined) {
    missing.set('process', 'the harness has no `module` and `openAt`')
  } else if (location === undefined) {
    missing.set('process', 'the medium has no `location`')
  } else if (!workerIsBuilt()) {
    missing.set('process', 'the worker of this kit is not built')
  }
  if (!hasBytes) missing.set('medium', 'the medium has no `files` and no `records`')
  return missing
}

/** The module must be one that plain Node can import, and that opens what this process made: there is what is stored. */
async function tryOtherProcess(
  harness: Harness,
  location: string,
  isLookedFor: boolean,
  deadlineMs: number,
): Promise<void> {
  const task = isLookedFor ? ({ kind: 'read', id: MARKER } as const) : ({ kind: 'hello' } as const)
  const worker = spawnWorker(harness.module ?? '', location, task)
  try {
    const line = await withDeadline(worker.next(), deadlineMs, () => {
      return new HarnessError(`\`openAt\` of ${harness.name} did not return in another process: it hangs.`)
    })
    if (line?.kind === 'failed' && line.code === 'NOT_FOUND') {
      throw new HarnessError(
        `\`openAt\` of ${harness.name} opens another place than \`open\`: a session stored through \`open\` is NOT_FOUND through \`openAt(location)\` in another process. Both must open the medium that \`location\` names.`,
      )
    }
    // Any other refusal of a read is for the cases to tell.
    if (line?.kind === 'ready' || line?.kind === 'events' || line?.kind === 'failed') return
    throw new HarnessError(`Another process could not open the medium of ${harness.name} by \`openAt\`.`)
  } finally {
    await worker.kill()
  }
}
