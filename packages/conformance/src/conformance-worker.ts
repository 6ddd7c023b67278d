/**
 * The other process of the process tier: opens the medium through the harness module, does one task, and acknowledges
 * over its standard output. Arguments: harness module, location, task as JSON.
 */

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import type { AnySessionEvent, Session, SessionPersistence } from '@session-persistence/core'
import { isSessionError } from '@session-persistence/core'
import type { Harness } from './harness.ts'
import { STEADY_SEED, steadyNames } from './steady-names.ts'
import { appendEach, collect } from './stored-events.ts'
import type { WorkerLine, WorkerStep, WorkerTask } from './worker-process.ts'
import { CALL_ABOUT_TO_BEGIN, conversation, filling, INTERRUPTED_AFTER_RESULT, turnEvents } from './workload.ts'

type ScriptTask = Extract<WorkerTask, { readonly kind: 'script' }>

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
        say({ kind: 'refused', code: 'untyped', ...described(error) })
        return
      }
    }
    case 'read':
      say({ kind: 'events', events: await collect(persistence.read(task.id)) })
      return
    case 'script':
      return performScript(persistence, task)
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

async function performScript(persistence: SessionPersistence, { steps, paced, retries }: ScriptTask): Promise<void> {
  const sessions = new Map<string, Session>()
  for (const [index, step] of steps.entries()) {
    if (paced === true) await goAhead()
    say({ kind: 'begin', step: index })
    await stubbornly(step.do === 'flush' ? (retries ?? 0) : 0, async () => {
      const events = await performStep(persistence, sessions, step)
      if (retries !== undefined && events !== undefined) say({ kind: 'accepted', id: step.id, events })
    })
    say({ kind: 'done', step: index, durable: sessions.get(step.id)?.durableSeq ?? 0 })
  }
  return inputEnd()
}

async function stubbornly(retries: number, action: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await action()
    } catch (error) {
      if (tries >= retries) throw error
      say({ kind: 'refusal', ...described(error) })
    }
  }
}

function described(error: unknown): { readonly code?: string; readonly message: string } {
  return { ...(isSessionError(error) ? { code: error.code } : {}), message: String(error) }
}

/** Resolves with the events that an append has made. */
async function performStep(
  persistence: SessionPersistence,
  sessions: Map<string, Session>,
  step: WorkerStep,
): Promise<readonly AnySessionEvent[] | undefined> {
  const session = sessions.get(step.id)
  switch (step.do) {
    case 'create':
      sessions.set(step.id, await persistence.create({ id: step.id }))
      return
    case 'resume':
      sessions.set(step.id, await persistence.resume(step.id))
      return
    case 'append':
      return session?.appendAll(step.events)
    case 'fill':
      return session?.appendAll(filling(step.events, step.characters))
    case 'flush':
      await session?.flush()
      return
    case 'close':
      await session?.close()
      return
    case 'fork':
      sessions.set(step.child, await persistence.fork(step.id, { id: step.child }))
      return
    case 'delete':
      await persistence.delete(step.id)
      return
    case 'annotate':
      await persistence.annotate(step.id, { title: step.title })
      return
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

const [module = '', location = '', argument = ''] = process.argv.slice(2)
const steadySeed = process.env[STEADY_SEED]
if (steadySeed !== undefined) steadyNames(Number(steadySeed))
const task = JSON.parse(argument) as WorkerTask
const { harness } = (await import(module)) as { readonly harness?: Harness }
if (harness?.openAt === undefined) {
  throw new Error('it must export `harness` with `openAt(location, options)`')
}
const openAt = harness.openAt.bind(harness)
if (task.kind === 'script' && task.retries !== undefined) await performOnFailingDisk(task)
else {
  const persistence = await openAt(location)
  await perform(persistence, task).catch((error: unknown) => say({ kind: 'failed', ...described(error) }))
  await persistence.close()
}
process.exit(0)

/** Whatever fails is said, opening and closing too. */
async function performOnFailingDisk(script: ScriptTask): Promise<void> {
  try {
    const persistence = await openAt(location, { onFailure: () => {} })
    await perform(persistence, script).catch((error: unknown) => say({ kind: 'failed', ...described(error) }))
    await persistence.close().catch((error: unknown) => say({ kind: 'refusal', ...described(error) }))
  } catch (error) {
    say({ kind: 'failed', ...described(error) })
  }
  say({ kind: 'over' })
}
