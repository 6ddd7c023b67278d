/**
 * The other process of the process tier: opens the medium through the harness module, does one task, and acknowledges
 * over its standard output. Arguments: harness module, location, task as JSON.
 */

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import type { SessionPersistence } from '@session-persistence/core'
import { isSessionError } from '@session-persistence/core'
import type { Harness } from './harness.ts'
import { appendEach, collect } from './stored-events.ts'
import type { WorkerLine, WorkerTask } from './worker-process.ts'
import { CALL_ABOUT_TO_BEGIN, conversation, INTERRUPTED_AFTER_RESULT } from './workload.ts'

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
  }
}

const [module = '', location = '', task = ''] = process.argv.slice(2)
const { harness } = (await import(module)) as { readonly harness?: Harness }
if (harness?.openAt === undefined) {
  throw new Error('the module must export `harness` with `openAt(location, options)`')
}
const persistence = await harness.openAt(location)
try {
  await perform(persistence, JSON.parse(task) as WorkerTask)
} catch (error) {
  say({ kind: 'failed', message: String(error) })
}
await persistence.close()
process.exit(0)
