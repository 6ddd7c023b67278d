/** One process of a soak: random operations on sessions that others use too, over calls that fail now and then. */

import { readdirSync, writeSync } from 'node:fs'
import { Random } from '@session-persistence/conformance/crash-states'
import {
  type AnySessionEvent,
  isElided,
  isSessionError,
  type SessionStorage,
  type StorageReader,
  type StoredRecord,
} from '@session-persistence/core'
import { FAULTS, systemError } from '../model/fault.ts'
import { openReal } from '../real/real-backend.ts'
import { sampleHeader } from '../scenario/sample-events.ts'
import type { Weakness } from '../scenario/stage.ts'
import { changed } from '../scenario/weaknesses.ts'
import { LOOK_EVERY, SOAK_SESSIONS, type SoakLine, type SoakTask } from './soak-task.ts'

/** One in so many calls of a file fails. */
const FAULT_EVERY = 150
/** Operations after which everything is closed and opened again. */
const REOPEN_EVERY = 40

export class Soaker {
  readonly #task: SoakTask
  readonly #random: Random
  readonly #leaked: StorageReader[] = []
  #storage: SessionStorage
  #faults = 0

  constructor(task: SoakTask) {
    this.#task = task
    this.#random = new Random(task.seed)
    this.#storage = this.#open()
  }

  async run(): Promise<void> {
    let operations = 0
    const { until = Number.POSITIVE_INFINITY } = this.#task
    for (; operations < this.#task.operations && Date.now() < until; operations++) {
      if (operations % LOOK_EVERY === 0) say({ kind: 'holding', operations, ...holding() })
      if (operations % REOPEN_EVERY === REOPEN_EVERY - 1) await this.#reopen()
      await this.#typed(() => this.#operate(`session-${this.#random.below(SOAK_SESSIONS)}`))
    }
    await this.#storage.close()
    say({ kind: 'end', operations, faults: this.#faults })
  }

  #open(): SessionStorage {
    return openReal(this.#task.backend, this.#task.directory, this.#failing())
  }

  /** File backends see calls that fail; SQLite, which makes its own, sees the other process and sudden deaths. */
  #failing(): Weakness {
    const strike = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.#random.below(FAULT_EVERY) !== 0) return await call()
      this.#faults++
      const fault = this.#random.pick(FAULTS)
      if (fault.effect === 'after') await call()
      throw systemError(fault)
    }
    return changed({}, (file) => ({
      append: (bytes) => strike(() => file.append(bytes)),
      write: (bytes, position) => strike(() => file.write(bytes, position)),
      read: (into, position) => strike(() => file.read(into, position)),
      sync: () => strike(() => file.sync()),
      truncate: (length) => strike(() => file.truncate(length)),
    }))
  }

  async #reopen(): Promise<void> {
    await this.#typed(() => this.#storage.close())
    this.#storage = this.#open()
  }

  /** Whatever fails says so with a type; the other process may be in the way, and the disk is bad. */
  async #typed(step: () => Promise<unknown>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (!isSessionError(error)) say({ kind: 'violation', problem: `an error without a type: ${String(error)}` })
      else if (error.code === 'CORRUPT') say({ kind: 'violation', problem: `CORRUPT: ${error.message}` })
    }
  }

  #operate(id: string): Promise<unknown> {
    switch (this.#random.below(8)) {
      case 0:
      case 1:
      case 2:
        return this.#write(id)
      case 3:
      case 4:
        return this.#read(id)
      case 5:
        return this.#storage.list({ limit: 10 })
      case 6:
        return this.#check(id)
      default:
        return this.#random.below(4) === 0 ? this.#delete(id) : this.#read(id)
    }
  }

  async #write(id: string): Promise<void> {
    const writer = await this.#openWriter(id)
    try {
      if (writer.tail.torn !== undefined) await writer.discardTornTail()
      await writer.settle()
      const found = writer.tail.nextSeq === 0 ? undefined : await this.#bornOf(id)
      const born = found ?? `${process.pid}-${this.#random.next()}`
      for (let batches = this.#random.below(5); batches >= 0; batches--) {
        const from = writer.tail.nextSeq
        const batch = Array.from({ length: 1 + this.#random.below(6) }, (_, index) => soakEvent(from + index, born))
        await this.#stubbornly(() => writer.append(batch))
        say({ kind: 'ack', id, born, events: from + batch.length })
      }
    } finally {
      await writer.close()
    }
  }

  async #openWriter(id: string): ReturnType<SessionStorage['openWriter']> {
    try {
      return await this.#storage.openWriter(id, { kind: 'resume' })
    } catch (error) {
      if (!isSessionError(error, 'NOT_FOUND')) throw error
      return await this.#storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
    }
  }

  async #stubbornly(step: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await step()
      } catch (error) {
        if (!isSessionError(error) || tries > 20) throw error
      }
    }
  }

  async #bornOf(id: string): Promise<string | undefined> {
    const reader = await this.#storage.openReader(id)
    try {
      for await (const page of reader.read({ from: 0, to: 0 })) for (const event of page) return bornOf(event)
      return undefined
    } finally {
      await reader.close()
    }
  }

  /** Everything of one session was written since it was born, and nothing is missing between. */
  async #read(id: string): Promise<void> {
    const reader = await this.#storage.openReader(id)
    try {
      let next = 0
      let born: string | undefined
      for await (const page of reader.read({})) {
        for (const event of page) {
          born ??= bornOf(event)
          if (isElided(event)) continue
          if (event.seq !== next++ || bornOf(event) !== born) {
            say({ kind: 'violation', problem: `${id}: event ${event.seq} is not the one that belongs there` })
            return
          }
        }
      }
    } finally {
      if (this.#task.leaks === true) this.#leaked.push(reader)
      else await reader.close()
    }
  }

  async #check(id: string): Promise<void> {
    for (const { message } of (await this.#storage.check(id)).problems) {
      say({ kind: 'violation', problem: `${id}: the check finds: ${message}` })
    }
  }

  async #delete(id: string): Promise<void> {
    say({ kind: 'delete', id })
    await this.#storage.delete(id)
  }
}

function soakEvent(seq: number, born: string): AnySessionEvent {
  return { seq, time: seq, type: 'acme/soak', data: { born, text: 'x'.repeat((seq * 37) % 200) }, ignorable: true }
}

/** Of a session that was deleted and stored again, another one. */
export function bornOf(event: StoredRecord): string | undefined {
  const data = isElided(event) ? undefined : event.data
  if (typeof data !== 'object' || data === null || !('born' in data)) return undefined
  return typeof data.born === 'string' ? data.born : undefined
}

function holding(): { readonly handles: number; readonly heap: number } {
  ;(globalThis as { gc?: () => void }).gc?.()
  return { handles: descriptors(), heap: process.memoryUsage().heapUsed }
}

/** 0 where the system does not tell. */
function descriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}

export function say(line: SoakLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}
