import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { withDeadline } from './deadline.ts'
import { type Harness, HarnessError, type Medium } from './harness.ts'
import { sentenceOf } from './short-value.ts'
import type { StoredRecords } from './stored-records.ts'

/** A harness that needs longer than this, in milliseconds, to make, list or remove a medium is broken or hangs. */
export const HARNESS_DEADLINE_MS = 30_000

/** Calls of the harness itself, for the whole run: with a deadline, and with a sentence for each way to be wrong. */
export class MediumSource {
  readonly #harness: Harness
  readonly #deadlineMs: number
  readonly #objects = new WeakSet<Medium>()
  readonly #locations = new Set<string>()

  constructor(harness: Harness, deadlineMs: number = HARNESS_DEADLINE_MS) {
    this.#harness = harness
    this.#deadlineMs = deadlineMs
  }

  async create(): Promise<Medium> {
    const { name } = this.#harness
    const medium = await this.#ask('createMedium', () => this.#harness.createMedium())
    if (typeof medium !== 'object' || medium === null || typeof medium.open !== 'function') {
      throw new HarnessError(`createMedium of ${name} must return an object with a function \`open(options)\`.`)
    }
    for (const part of ['files', 'isEngineFile', 'destroy', 'stampVersion'] as const) {
      if (medium[part] === undefined || typeof medium[part] === 'function') continue
      throw new HarnessError(`\`${part}\` of the medium that createMedium of ${name} returned must be a function.`)
    }
    const { location, records } = medium
    if (records !== undefined && (typeof records?.read !== 'function' || typeof records.write !== 'function')) {
      throw new HarnessError(
        `\`records\` of the medium that createMedium of ${name} returned must be { read(id), write(id, records) }.`,
      )
    }
    if (location !== undefined && (typeof location !== 'string' || location === '')) {
      throw new HarnessError(`\`location\` of the medium that createMedium of ${name} returned must be a string.`)
    }
    if (this.#objects.has(medium) || (location !== undefined && this.#locations.has(location))) {
      throw new HarnessError(`createMedium of ${name} returned the same medium twice; each must be new and empty.`)
    }
    this.#objects.add(medium)
    if (location !== undefined) this.#locations.add(location)
    return medium
  }

  /** Paths of the files of a medium, checked; undefined where the harness does not tell. */
  async filesOf(medium: Medium): Promise<readonly string[] | undefined> {
    if (medium.files === undefined) return undefined
    const files: unknown = await this.#ask('files', () => medium.files?.())
    const paths: readonly unknown[] = Array.isArray(files) ? files : [undefined]
    if (!paths.every((path): path is string => typeof path === 'string' && isAbsolute(path))) {
      throw new HarnessError(`\`files\` of the medium of ${this.#harness.name} must return a list of absolute paths.`)
    }
    return paths
  }

  /** The records of a medium, with the checks and the deadline of every call of the harness. */
  recordsOf({ records }: Medium): StoredRecords | undefined {
    if (records === undefined) return undefined
    return {
      read: async (id) => {
        const found: unknown = await this.#ask('records.read', () => records.read(id))
        const list: readonly unknown[] = Array.isArray(found) ? found : [undefined]
        if (!list.every((record): record is Uint8Array => record instanceof Uint8Array)) {
          throw new HarnessError(`\`records.read\` of the medium of ${this.#harness.name} must return a list of bytes.`)
        }
        return list
      },
      write: (id, written) => this.#ask('records.write', () => records.write(id, written)),
    }
  }

  async destroy(medium: Medium): Promise<void> {
    await this.#ask('destroy', () => medium.destroy?.())
  }

  /** Destroys a medium and sees that its files are gone. */
  async destroyWhole(medium: Medium): Promise<void> {
    const files = (await this.filesOf(medium)) ?? []
    await this.destroy(medium)
    const left = medium.destroy === undefined ? undefined : files.find((path) => existsSync(path))
    if (left === undefined) return
    throw new HarnessError(
      `\`destroy\` of ${this.#harness.name} leaves files behind, such as ${left}: remove them all.`,
    )
  }

  async #ask<T>(what: string, call: () => T | Promise<T>): Promise<T> {
    const { name } = this.#harness
    try {
      // A call that throws at once and one that rejects later are the same to whoever wrote it.
      const answer = Promise.resolve().then(call)
      return await withDeadline(answer, this.#deadlineMs, () => {
        return new HarnessError(`${what} of ${name} did not return within ${this.#deadlineMs / 1000} s: it hangs.`)
      })
    } catch (error) {
      if (error instanceof HarnessError) throw error
      throw new HarnessError(`${what} of ${name} threw: ${sentenceOf(error)}`)
    }
  }
}
