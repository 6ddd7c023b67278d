// A small sound backend that writes a session's file anew at every batch, and its twins with one fault each, which the
// tiers io and power must see. The query of this module's address chooses: `?fault=sync-forgotten`.
import { constants } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { defineHarness } from '@session-persistence/conformance'
import {
  compareListKeys,
  createPersistence,
  isAfterListKey,
  matchesListQuery,
  SessionError,
} from '@session-persistence/core'

const fault = new URL(import.meta.url).searchParams.get('fault') ?? 'none'

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = defineHarness({
  name: 'whole-file',
  module: import.meta.url,
  async createMedium() {
    const place = await mkdtemp(join(tmpdir(), 'whole-file-'))
    const root = join(place, 'sessions')
    return {
      location: root,
      open: async (options) => createPersistence(new WholeFileStorage(root), options),
      files: async () => (await readdir(root).catch(() => [])).map((name) => join(root, name)),
      destroy: () => rm(place, { recursive: true }),
    }
  },
  openAt: async (root, options) => createPersistence(new WholeFileStorage(root), options),
})

/** @param {unknown} error @param {string} id */
function typed(error, id) {
  if (error instanceof SessionError || fault === 'error-untyped') return error
  if (fault === 'failure-called-missing') return notFound(id)
  return new SessionError('IO', 'the disk fails', { sessionId: id, cause: error })
}

/** @param {string} id */
function notFound(id) {
  return new SessionError('NOT_FOUND', 'no such session', { sessionId: id })
}

/** @param {string} path @param {boolean} isDirectory */
async function sync(path, isDirectory) {
  if (fault === (isDirectory ? 'directory-forgotten' : 'sync-forgotten')) return
  const file = await open(path, isDirectory ? constants.O_RDONLY : 'r+')
  try {
    await file.sync().catch((error) => {
      if (fault !== 'sync-repeated') throw error
      return file.sync()
    })
  } finally {
    await file.close()
  }
}

/** @implements {import('@session-persistence/core').SessionStorage} */
class WholeFileStorage {
  description = Object.freeze({
    name: 'whole-file',
    version: '1',
    capabilities: Object.freeze({
      durability: /** @type {const} */ ('power'),
      exclusion: /** @type {const} */ ('medium'),
      integrity: /** @type {const} */ ('none'),
      follow: /** @type {const} */ ('medium'),
      repair: /** @type {const} */ ('none'),
    }),
    modes: Object.freeze({}),
  })

  /** @param {string} root */
  constructor(root) {
    this.root = root
  }

  /** @param {string} id */
  pathOf(id) {
    return join(this.root, `${Buffer.from(id).toString('hex')}.json`)
  }

  /** @param {string} id @returns {Promise<any>} */
  async load(id) {
    try {
      return JSON.parse(await readFile(this.pathOf(id), 'utf8'))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw typed(error, id)
    }
  }

  /** @param {string} id @param {object} log */
  async put(id, log) {
    const aside = `${this.pathOf(id)}.${Math.random()}`
    try {
      await mkdir(this.root, { recursive: true, mode: 0o700 })
      await sync(dirname(this.root), true)
      const file = await open(aside, 'wx', 0o600)
      await file.writeFile(JSON.stringify(log)).finally(() => file.close())
      await sync(aside, false)
      await rename(aside, this.pathOf(id))
      await sync(this.root, true)
    } catch (error) {
      await unlink(aside).catch(() => {})
      if (fault !== 'failure-hidden') throw typed(error, id)
    }
  }

  /** @param {string} id @param {any} intent @returns {Promise<any>} */
  async openWriter(id, intent) {
    const found = await this.load(id)
    if (intent.kind === 'resume' && found === undefined) throw notFound(id)
    if (intent.kind === 'create' && found !== undefined) {
      throw new SessionError('ALREADY_EXISTS', 'it is there', { sessionId: id })
    }
    let log = found ?? { header: intent.header, events: [] }
    // What another process put there, and did not live to make durable.
    if (found !== undefined) await this.put(id, found)
    const storage = this
    return {
      location: this.pathOf(id),
      header: log.header,
      get tail() {
        return { nextSeq: log.events.length, lastTime: log.events.at(-1)?.time }
      },
      /** @param {readonly object[]} events */
      async append(events) {
        const next = { ...log, events: [...log.events, ...events] }
        await storage.put(id, next)
        log = next
      },
      settle: async () => {},
      saveDerived: async () => {},
      openReader: () => storage.openReader(id),
      close: async () => {},
    }
  }

  /** @param {string} id @returns {Promise<any>} */
  async openReader(id) {
    const log = await this.load(id)
    if (log === undefined) throw notFound(id)
    return {
      header: log.header,
      tail: { nextSeq: log.events.length, lastTime: log.events.at(-1)?.time },
      bytes: JSON.stringify(log).length,
      /** @param {{ from?: number, to?: number }} range */
      async *read({ from = 0, to = Number.POSITIVE_INFINITY }) {
        yield log.events.slice(from, to + 1)
      },
      derived: async () => undefined,
      close: async () => {},
    }
  }

  /** @param {any} query @returns {Promise<any>} */
  async list(query) {
    const names = await readdir(this.root).catch(() => [])
    const ids = names
      .filter((name) => name.endsWith('.json'))
      .map((name) => Buffer.from(name.slice(0, -5), 'hex').toString())
    const entries = await Promise.all(
      ids.map(async (id) => {
        const { header, events } = await this.load(id)
        const { size: bytes } = await stat(this.pathOf(id))
        return {
          id,
          state: 'ready',
          header,
          events: events.length,
          updatedAt: events.at(-1)?.time ?? header.createdAt,
          bytes,
        }
      }),
    )
    const wanted = entries.filter((entry) => matchesListQuery(/** @type {any} */ (entry), query))
    return wanted
      .filter((entry) => isAfterListKey(entry, query.after))
      .sort(compareListKeys)
      .slice(0, query.limit)
  }

  /** @param {string} id */
  async delete(id) {
    try {
      await unlink(this.pathOf(id))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
      throw typed(error, id)
    }
    await sync(this.root, true).catch((error) => {
      throw typed(error, id)
    })
    return true
  }

  /** @param {string} id */
  async check(id) {
    const log = await this.load(id)
    if (log === undefined) throw notFound(id)
    return { events: log.events.length, bytes: 0, problems: [] }
  }

  async close() {}
}
