/** S once more, asynchronous: a file opened to sync by itself, written in the thread pool, one write after the other. */
import fs from 'node:fs/promises'

export class PooledAppend {
  readonly #handle: fs.FileHandle

  private constructor(handle: fs.FileHandle) {
    this.#handle = handle
  }

  static async open(file: string): Promise<PooledAppend> {
    const { O_APPEND, O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = fs.constants
    return new PooledAppend(await fs.open(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | (O_DSYNC ?? 0), 0o600))
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#handle.write(bytes)
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}
