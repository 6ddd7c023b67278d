import type { Session, SessionErrorCode, SessionPersistence } from '@session-persistence/core'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, contentOf, receiptOf, storedEvents } from '../stored-events.ts'
import { LogModel } from './log-model.ts'
import type { WorkloadCommand } from './workload-command.ts'

/** A live writer, by which handle it was opened. */
interface Writer {
  readonly session: Session
  readonly handle: number
}

/** Performs commands on one medium and compares every answer with a model of arrays. */
export class WorkloadRun {
  readonly #open: () => Promise<SessionPersistence>
  readonly #handles: SessionPersistence[] = []
  readonly #logs = new Map<string, LogModel>()
  readonly #writers = new Map<string, Writer>()
  #forks = 0

  private constructor(open: () => Promise<SessionPersistence>) {
    this.#open = open
  }

  static async start(open: () => Promise<SessionPersistence>, handles: number): Promise<WorkloadRun> {
    const run = new WorkloadRun(open)
    for (let count = 0; count < handles; count += 1) run.#handles.push(await open())
    return run
  }

  /** Every command, then every log once more through a handle that has seen nothing. */
  async perform(commands: readonly WorkloadCommand[]): Promise<void> {
    for (const command of commands) await this.#step(command)
    for (const handle of this.#handles.keys()) await this.#closeHandle(handle)
    const fresh = await this.#open()
    await this.#expectList(fresh)
    for (const [id, log] of this.#logs) {
      if (log.durable > 0) expectEqual(await contentsOf(fresh, id), log.accepted, `${id} at the end`)
    }
    await fresh.close()
  }

  #persistence(handle: number): SessionPersistence {
    const persistence = this.#handles[handle]
    expectThat(persistence !== undefined, 'no such handle')
    return persistence
  }

  async #step(command: WorkloadCommand): Promise<void> {
    const { id } = command
    const persistence = this.#persistence(command.handle)
    const [log, writer] = [this.#logs.get(id), this.#writers.get(id)]
    switch (command.do) {
      case 'create':
        return this.#create(command, persistence)
      case 'resume':
        return this.#resume(command, persistence)
      case 'append':
        return this.#append(command)
      case 'flush': {
        if (writer === undefined || log === undefined) return
        const receipt = await writer.session.flush()
        log.flushed()
        expectEqual(receipt.seq, log.accepted.length - 1, `seq of the receipt of ${id}`)
        return this.#expectEverywhere(id, log)
      }
      case 'close':
        if (writer === undefined || log === undefined) return
        await writer.session.close()
        log.flushed()
        return this.#released(id)
      case 'abandon':
        if (writer !== undefined && log !== undefined) return this.#abandon(id, log, writer.session)
        return
      case 'delete':
        return this.#delete(id, persistence)
      case 'fork':
        return this.#fork(command, persistence)
      case 'annotate':
        if (writer !== undefined || log === undefined) return
        await persistence.annotate(id, { title: command.text })
        return log.store({ type: 'session/title', data: { title: command.text } })
      case 'verify':
        return this.#verify(id, persistence)
      case 'read':
        return this.#read(command, persistence)
      case 'list':
        return this.#expectList(persistence)
      case 'reopen':
        await this.#closeHandle(command.handle)
        this.#handles[command.handle] = await this.#open()
    }
  }

  async #create({ id, handle }: WorkloadCommand, persistence: SessionPersistence): Promise<void> {
    if (this.#logs.has(id)) {
      const codes: readonly SessionErrorCode[] = this.#writers.has(id)
        ? ['LOCKED', 'ALREADY_EXISTS']
        : ['ALREADY_EXISTS']
      await expectRefusal(() => persistence.create({ id }), codes, `create of ${id}, which is there`)
      return
    }
    const session = await persistence.create({ id })
    this.#writers.set(id, { session, handle })
    this.#logs.set(id, new LogModel())
  }

  async #resume({ id, handle }: WorkloadCommand, persistence: SessionPersistence): Promise<void> {
    const log = this.#logs.get(id)
    if (log === undefined || this.#writers.has(id)) {
      await expectRefusal(() => persistence.resume(id), refusalsOf(log), `resume of ${id}`)
      return
    }
    const session = await persistence.resume(id)
    log.resume()
    this.#writers.set(id, { session, handle })
    expectEqual([session.nextSeq, session.openTurn], [log.accepted.length, undefined], `${id} as resumed`)
  }

  #append(command: WorkloadCommand & { readonly do: 'append' }): void {
    const [log, writer] = [this.#logs.get(command.id), this.#writers.get(command.id)]
    if (log === undefined || writer === undefined) return
    const events = log.next(command.what, command.text)
    if (command.what === 'group') writer.session.appendAll(events)
    else appendEach(writer.session, events)
    log.accept(events)
    expectEqual(writer.session.nextSeq, log.accepted.length, `nextSeq of ${command.id}`)
  }

  /** What the background had written by then is stored; the rest comes back and is gone. */
  async #abandon(id: string, log: LogModel, session: Session): Promise<void> {
    const returned = await session.abandon()
    const stored = log.accepted.length - returned.length
    expectThat(stored >= log.durable, `abandon of ${id} returned ${returned.length} events, some of them durable`)
    expectEqual(returned.map(contentOf), log.accepted.slice(stored), `what abandon of ${id} returned`)
    this.#writers.delete(id)
    if (stored === 0) this.#logs.delete(id)
    else this.#logs.set(id, log.cutTo(stored))
  }

  async #delete(id: string, persistence: SessionPersistence): Promise<void> {
    if (this.#writers.has(id)) {
      await expectRefusal(() => persistence.delete(id), 'LOCKED', `delete of ${id}, which is open`)
      return
    }
    expectEqual(await persistence.delete(id), this.#logs.has(id), `whether ${id} was there to delete`)
    this.#logs.delete(id)
    await expectRefusal(() => storedEvents(persistence, id), 'NOT_FOUND', `read of ${id} after delete`)
  }

  async #fork({ id, handle }: WorkloadCommand, persistence: SessionPersistence): Promise<void> {
    const [log, writer] = [this.#logs.get(id), this.#writers.get(id)]
    // What another handle has not flushed is not there to fork.
    if (log === undefined || (writer !== undefined && writer.handle !== handle)) return
    await writer?.session.flush()
    log.flushed()
    if (log.durable === 0) {
      await expectRefusal(() => persistence.fork(id), 'NOT_FOUND', `fork of ${id}, which holds nothing`)
      return
    }
    this.#forks += 1
    const child = `fork-${this.#forks}`
    const session = await persistence.fork(id, { id: child })
    this.#logs.set(child, log.fork(id))
    await session.close()
  }

  async #verify(id: string, persistence: SessionPersistence): Promise<void> {
    const [log, writer] = [this.#logs.get(id), this.#writers.get(id)]
    if (log === undefined || writer !== undefined) return
    const report = await persistence.verify(id)
    expectEqual([report.ok, report.events], [true, log.accepted.length], `verify of ${id}`)
    const head = receiptOf(await storedEvents(persistence, id))
    expectEqual([report.head, (await persistence.inspect(id)).head], [head, head], `head of ${id}`)
  }

  async #read(command: WorkloadCommand & { readonly do: 'read' }, persistence: SessionPersistence): Promise<void> {
    const { id, from, count, reverse } = command
    const log = this.#logs.get(id)
    if (log === undefined) {
      await expectRefusal(() => storedEvents(persistence, id), 'NOT_FOUND', `read of ${id}`)
      return
    }
    // The background may write meanwhile; with a writer open a range is asked for only after a flush.
    await this.#writers.get(id)?.session.flush()
    log.flushed()
    if (log.durable === 0) return
    const expected = log.accepted.slice(from, from + count + 1)
    const events = await storedEvents(persistence, id, { from, to: from + count, reverse })
    expectEqual(
      events.map(contentOf),
      reverse ? expected.toReversed() : expected,
      `${id} from ${from} to ${from + count}`,
    )
  }

  /** What is durable is there for every handle. */
  async #expectEverywhere(id: string, log: LogModel): Promise<void> {
    if (log.durable === 0) return
    for (const persistence of this.#handles)
      expectEqual(await contentsOf(persistence, id), log.accepted, `${id} stored`)
  }

  async #expectList(persistence: SessionPersistence): Promise<void> {
    for (const [id, { session }] of this.#writers) {
      await session.flush()
      this.#logs.get(id)?.flushed()
    }
    const { sessions } = await persistence.list({ limit: 1000 })
    const listed = sessions.map(({ id, events, turns }) => [id, events, turns]).sort()
    const stored = [...this.#logs].filter(([, log]) => log.durable > 0)
    const expected = stored.map(([id, log]) => [id, log.accepted.length, log.turns]).sort()
    expectEqual(listed, expected, 'ids, events and turns listed')
  }

  async #closeHandle(handle: number): Promise<void> {
    await this.#persistence(handle).close()
    for (const [id, writer] of this.#writers) {
      if (writer.handle !== handle) continue
      this.#logs.get(id)?.flushed()
      this.#released(id)
    }
  }

  #released(id: string): void {
    this.#writers.delete(id)
    const log = this.#logs.get(id)
    log?.released()
    // A session in which nothing was appended leaves nothing.
    if (log?.durable === 0) this.#logs.delete(id)
  }
}

/** A session that was created and not yet stored is not there. The background may have stored what was accepted. */
function refusalsOf(log: LogModel | undefined): readonly SessionErrorCode[] {
  if (log === undefined || log.accepted.length === 0) return ['NOT_FOUND']
  return log.durable === 0 ? ['LOCKED', 'NOT_FOUND'] : ['LOCKED']
}

async function contentsOf(persistence: SessionPersistence, id: string): Promise<readonly unknown[]> {
  return (await storedEvents(persistence, id)).map(contentOf)
}
