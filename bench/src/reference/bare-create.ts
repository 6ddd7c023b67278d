/**
 * What a new durable file costs at least: built under another name, synced, its directory synced, renamed, and the
 * root synced. Three syncs that no implementation can leave out, and one event appended for comparison.
 */
import fs from 'node:fs'
import path from 'node:path'
import { BareAppend } from './bare-append.ts'

export class BareCreate {
  readonly #root: string
  readonly #rootFd: number
  #made = 0

  constructor(root: string) {
    fs.mkdirSync(root, { mode: 0o700 })
    this.#root = root
    this.#rootFd = fs.openSync(root, 'r')
  }

  create(bytes: Uint8Array): void {
    const name = path.join(this.#root, String(this.#made++))
    const temporary = `${name}.tmp`
    fs.mkdirSync(temporary, { mode: 0o700 })
    const file = new BareAppend(path.join(temporary, 'log'))
    file.prepared(bytes)
    const directory = fs.openSync(temporary, 'r')
    fs.fsyncSync(directory)
    fs.closeSync(directory)
    fs.renameSync(temporary, name)
    fs.fsyncSync(this.#rootFd)
    file.close()
  }

  close(): void {
    fs.closeSync(this.#rootFd)
  }
}
