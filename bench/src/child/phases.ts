/** One of everything that is counted under strace, each announced on standard error before it begins. */
import fs from 'node:fs'
import type { SessionPersistence } from 'session-persistence'
import { deltaLog, takeEvents } from '../input/generated-log.ts'
import { phaseMark } from '../machine/syscall-trace.ts'
import { appendEach } from '../scenario/append-inputs.ts'

/** Flushes of the phases that flush, each announced: what happens now and then shows beside what happens always. */
const PHASE_FLUSHES = 50
const PHASE_BATCH = 100
export const PHASE_PIPELINED = 2000

const STDERR = 2

export async function runPhases(persistence: SessionPersistence): Promise<void> {
  const begin = (phase: string): void => {
    fs.writeSync(STDERR, phaseMark(phase))
  }
  const events = takeEvents(deltaLog, 1 + PHASE_FLUSHES * (1 + PHASE_BATCH))
  let at = 0
  const append = (session: Parameters<typeof appendEach>[0], count: number): void => {
    appendEach(session, events.slice(at, at + count))
    at += count
  }
  // The root and its lock directory belong to the store, not to a session.
  const first = await persistence.create()
  first.append('session/title', { title: 'first' })
  await first.close()

  // A session of its own: how many batches these make depends on the disk, and the length of the log on that.
  const pipelined = await persistence.create()
  pipelined.append('session/title', { title: 'stored before' })
  await pipelined.flush()
  begin('pipelined')
  const flushes: Promise<unknown>[] = []
  for (let pair = 0; pair < PHASE_PIPELINED; pair++) {
    pipelined.append('session/title', { title: `Title ${pair}` })
    flushes.push(pipelined.flush())
    if (pair % 16 === 15) await new Promise(setImmediate)
  }
  await Promise.all(flushes)
  begin('apart')
  await pipelined.close()
  await persistence.delete(pipelined.id)

  begin('create')
  const session = await persistence.create()
  append(session, 1)
  await session.flush()
  for (let flush = 0; flush < PHASE_FLUSHES; flush++) {
    begin('flush-1')
    append(session, 1)
    await session.flush()
  }
  for (let flush = 0; flush < PHASE_FLUSHES; flush++) {
    begin('flush-100')
    append(session, PHASE_BATCH)
    await session.flush()
  }
  begin('close')
  await session.close()
  begin('read')
  for await (const _event of persistence.read(session.id));
  begin('list')
  await persistence.list()
  begin('resume')
  const again = await persistence.resume(session.id, { openTurn: 'keep' })
  begin('abandon')
  await again.abandon()
  begin('delete')
  await persistence.delete(session.id)
  begin('end')
}
