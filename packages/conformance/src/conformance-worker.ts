/**
 * The other process of the process tier: opens the medium through the harness module, does one task, and acknowledges
 * over its standard output. Arguments: harness module, location, task as JSON.
 */

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import type { Session, SessionPersistence } from '@session-persistence/core'
import { isSessionError } from '@session-persistence/core'
import type { Harness } from './harness.ts'
import { appendEach, collect } from './stored-events.ts'
import type { WorkerLine, WorkerStep, WorkerTask } from './worker-process.ts'
import { CALL_ABOUT_TO_BEGIN, conversation, filling, INTERRUPTED_AFTER_RESULT, turnEvents } from './workload.ts'

/** Synchronous, so that what was acknowledged is in the pipe before anything else happens. */
function say(line: WorkerLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Holds the process, and what it has open, until the parent ends its input or kills it. */
async function inputEnd(): Promise<void> {
  process.stdin.resume()
  await once(process.stdin, 'end')
}

async function goAhead(): Promise<void> {
  await once(process.stdin, 'data')
}

async function perform(persistence: SessionPersistence, task: WorkerTask): Promise<void> {
  switch (task.kind) {
    case 'write': {
      const session =
        task.resume === true ? await persistence.resume(task.id) : await persistence.create({ id: task.id })
      for (const event of conversation(task.turns)) {
        appendEach(session, [event])
        await session.flush()
        say({ kind: 'ack', nextSeq: session.durableSeq })
      }
      return inputEnd()
    }
    case 'accept': {
      const session = await persistence.create({ id: task.id })
      appendEach(session, conversation(task.turns))
      say({ kind: 'ack', nextSeq: session.nextSeq })
      return inputEnd()
    }
    case 'begin-call': {
      const session = await persistence.create({ id: task.id })
      appendEach(session, CALL_ABOUT_TO_BEGIN)
      await session.beginCall({ turn: 1, step: 1, callId: 'w1', name: 'write', arguments: { path: 'b.txt' } })
      say({ kind: 'ack', nextSeq: session.durableSeq })
      return inputEnd()
    }
    case 'interrupted': {
      const session = await persistence.create({ id: task.id })
      appendEach(session, INTERRUPTED_AFTER_RESULT)
      await session.flush()
      say({ kind: 'ack', nextSeq: session.durableSeq })
      return inputEnd()
    }
    case 'hold': {
      const session = await persistence.resume(task.id)
      say({ kind: 'ready', pid: process.pid })
      await inputEnd()
      return session.close()
    }
    case 'race': {
      say({ kind: 'ready', pid: process.pid })
      await goAhead()
      try {
        const session = await persistence.resume(task.id)
        say({ kind: 'won', closed: session.recovery?.closed.length ?? 0 })
        await inputEnd()
        return session.close()
      } catch (error) {
        say({ kind: 'refused', code: isSessionError(error) ? error.code : 'untyped', message: String(error) })
        return
      }
    }
    case 'read':
      say({ kind: 'events', events: await collect(persistence.read(task.id)) })
      return
    case 'script':
      return performScript(persistence, task.steps, task.paced === true)
    case 'contend': {
      say({ kind: 'ready', pid: process.pid })
      await goAhead()
      for (let turn = 0; turn < task.turns; turn += 1) await addTurn(persistence, task.id)
      return
    }
    case 'hello':
      say({ kind: 'ready', pid: process.pid })
  }
}

async function performScript(
  persistence: SessionPersistence,
  steps: readonly WorkerStep[],
  paced: boolean,
): Promise<void> {
  const sessions = new Map<string, Session>()
  for (const [index, step] of steps.entries()) {
    if (paced) await goAhead()
    say({ kind: 'begin', step: index })
    await performStep(persistence, sessions, step)
    say({ kind: 'done', step: index, durable: sessions.get(step.id)?.durableSeq ?? 0 })
  }
  return inputEnd()
}

async function performStep(
  persistence: SessionPersistence,
  sessions: Map<string, Session>,
  step: WorkerStep,
): Promise<void> {
  const session = sessions.get(step.id)
  switch (step.do) {
    case 'create':
      sessions.set(step.id, await persistence.create({ id: step.id }))
      return
    case 'resume':
      sessions.set(step.id, await persistence.resume(step.id))
      return
    case 'append':
      session?.appendAll(step.events)
      return
    case 'fill':
      session?.appendAll(filling(step.events, step.characters))
      return
    case 'flush':
      await session?.flush()
      return
    case 'close':
      return session?.close()
    case 'fork':
      sessions.set(step.child, await persistence.fork(step.id, { id: step.child }))
      return
    case 'delete':
      await persistence.delete(step.id)
      return
    case 'annotate':
      await persistence.annotate(step.id, { title: step.title })
  }
}

/** Milliseconds between two attempts on a session that somebody else holds. */
const RETRY_MS = 2

/** Takes the session as soon as nobody else has it, adds the turn that comes next, and releases it. */
async function addTurn(persistence: SessionPersistence, id: string): Promise<void> {
  for (;;) {
    try {
      const session = await persistence.resume(id)
      appendEach(session, turnEvents(session.summary().turns + 1))
      await session.close()
      return say({ kind: 'ack', nextSeq: session.durableSeq })
    } catch (error) {
      if (!isSessionError(error, 'LOCKED') && !isSessionError(error, 'BUSY')) throw error
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

const [module = '', location = '', task = ''] = process.argv.slice(2)
const { harness } = (await import(module)) as { readonly harness?: Harness }
if (harness?.openAt === undefined) {
  throw new Error('it must export `harness` with `openAt(location, options)`')
}
const persistence = await harness.openAt(location)
try {
  await perform(persistence, JSON.parse(task) as WorkerTask)
} catch (error) {
  say({ kind: 'failed', ...(isSessionError(error) ? { code: error.code } : {}), message: String(error) })
}
await persistence.close()
process.exit(0)
