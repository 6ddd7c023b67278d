import type { SessionPersistence } from '@session-persistence/core'
import { isSessionError } from '@session-persistence/core'
import { CLOCK_START } from '../conformance-case.ts'
import { appendEach, storedEvents } from '../stored-events.ts'
import { LogModel } from './log-model.ts'
import type { WorkloadCommand } from './workload-command.ts'

/**
 * Everything that a workload can observe, a line an answer, times and receipts included: equal on all backends. Nothing
 * is left to the background writer, which has a clock of its own.
 */
export async function transcribe(
  open: (clock: () => number) => Promise<SessionPersistence>,
  commands: readonly WorkloadCommand[],
): Promise<readonly string[]> {
  let now = CLOCK_START
  const clock = (): number => {
    now += 1000
    return now
  }
  const lines: string[] = []
  let persistence = await open(clock)
  const writers = new Map<
    string,
    { readonly log: LogModel; readonly session: Awaited<ReturnType<SessionPersistence['create']>> }
  >()
  for (const command of commands) {
    const answer = await answerTo(command).catch((error: unknown) => {
      if (!isSessionError(error)) throw error
      // Of a session that was created and not yet stored it is as right to say that it is held as that it is not there.
      return writers.has(command.id) ? 'refused, a writer is open' : error.code
    })
    lines.push(`${command.do} ${command.id}: ${typeof answer === 'string' ? answer : JSON.stringify(answer)}`)
  }
  await persistence.close()
  persistence = await open(clock)
  lines.push(`end: ${JSON.stringify(await listed())}`)
  for (const { id } of (await persistence.list({ limit: 1000 })).sessions) {
    for (const event of await storedEvents(persistence, id)) lines.push(`${id}: ${JSON.stringify(event)}`)
  }
  await persistence.close()
  return lines

  async function answerTo(command: WorkloadCommand): Promise<unknown> {
    const { id } = command
    const writer = writers.get(id)
    switch (command.do) {
      case 'create':
      case 'resume': {
        const session = command.do === 'create' ? await persistence.create({ id }) : await persistence.resume(id)
        const log = new LogModel()
        log.turns = session.summary().turns
        writers.set(id, { session, log })
        return [session.nextSeq, session.recovery?.closed.length]
      }
      case 'append': {
        if (writer === undefined) return 'nobody'
        const events = writer.log.next(command.what, command.text)
        const appended = appendEach(writer.session, events)
        writer.log.accept(events)
        await writer.session.flush()
        return appended
      }
      case 'flush':
        return writer?.session.flush()
      case 'close':
      case 'abandon':
        writers.delete(id)
        return command.do === 'close' ? writer?.session.close() : writer?.session.abandon()
      case 'delete':
        return persistence.delete(id)
      case 'fork': {
        const child = await persistence.fork(id, { id: `child of ${id}` })
        const { seq, crc } = await child.flush()
        await child.close()
        return [seq, crc, child.header]
      }
      case 'annotate':
        return persistence.annotate(id, { title: command.text })
      case 'verify': {
        const { ok, events, head } = await persistence.verify(id)
        return [ok, events, head]
      }
      case 'read':
        return storedEvents(persistence, id, {
          from: command.from,
          to: command.from + command.count,
          reverse: command.reverse,
        })
      case 'list':
        return listed()
      case 'reopen':
        await persistence.close()
        writers.clear()
        persistence = await open(clock)
        return 'done'
    }
  }

  /** What a page says, apart from what only one backend knows. */
  async function listed(): Promise<unknown> {
    const { sessions } = await persistence.list({ limit: 1000 })
    return sessions.map(({ bytes: _, owner: __, ...summary }) => summary)
  }
}
