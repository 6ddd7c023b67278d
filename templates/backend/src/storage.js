import { readdir, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  compareListKeys,
  isAfterListKey,
  isSessionError,
  matchesListQuery,
  SessionError,
} from '@session-persistence/core'
import { fileNameOf, idOfFileName, isThere, readBytes, syncDirectory, systemCode, typed } from './files.js'
import { scanLog } from './log-file.js'
import { AcmeReader } from './reader.js'
import { AcmeWriter } from './writer.js'

/** @typedef {import('@session-persistence/core').StorageListEntry} Entry */

/**
 * Paths that a writer of this process holds. All storages of the process share it, so that two of them on one root
 * keep their writers apart. Other processes do not see it, and the description says so: exclusion `medium`. For `host`
 * take a lock of the operating system, which ends with the process that holds it.
 *
 * @type {Set<string>}
 */
const held = new Set()

/**
 * One file a session, all in one directory.
 *
 * @implements {Storage}
 * @typedef {import('@session-persistence/core').SessionStorage} Storage
 */
export class AcmeStorage {
  /** @type {import('@session-persistence/core').BackendDescription} */
  description = Object.freeze({
    name: 'acme',
    version: '1',
    capabilities: Object.freeze({
      durability: 'power',
      exclusion: 'medium',
      integrity: 'checksum',
      follow: 'host',
      repair: 'none',
    }),
    modes: Object.freeze({ sync: 'fdatasync', checksum: 'crc32' }),
  })

  #root

  /** @param {string} root */
  constructor(root) {
    this.#root = resolve(root)
  }

  /** @param {string} id */
  #pathOf(id) {
    return join(this.#root, fileNameOf(id))
  }

  /**
   * @param {string} id
   * @param {import('@session-persistence/core').WriterIntent} intent
   */
  async openWriter(id, intent) {
    const path = this.#pathOf(id)
    // What another writer has created and not yet stored is seen by nobody, its lock included.
    if (intent.kind === 'resume' && !(await typed(id, () => isThere(path)))) throw notFound(id)
    // No await between looking and taking: two that ask at once must not both find it free.
    if (held.has(path)) throw locked(id)
    held.add(path)
    const release = () => void held.delete(path)
    try {
      return await typed(id, async () => {
        const bytes = await readBytes(path)
        if (intent.kind === 'create') {
          if (bytes !== undefined)
            throw new SessionError('ALREADY_EXISTS', 'a session with this id is stored', { sessionId: id })
          return new AcmeWriter(path, intent.header, { staged: intent.staged === true, release })
        }
        if (bytes === undefined) throw notFound(id)
        const log = scanLog(bytes, id)
        if (log.damage !== undefined) throw log.damage
        return new AcmeWriter(path, log.header, { staged: false, log, release })
      })
    } catch (error) {
      release()
      throw error
    }
  }

  /** @param {string} id */
  openReader(id) {
    return typed(id, async () => {
      const path = this.#pathOf(id)
      const bytes = await readBytes(path)
      if (bytes === undefined) throw notFound(id)
      return new AcmeReader(path, bytes.length, scanLog(bytes, id))
    })
  }

  /** @param {import('@session-persistence/core').StorageListQuery} query */
  async list(query) {
    /** @type {Entry[]} */
    const entries = []
    for (const name of await this.#names()) {
      query.signal?.throwIfAborted()
      const entry = await this.#entryOf(name)
      if (entry !== undefined && matchesListQuery(entry, query) && isAfterListKey(entry, query.after))
        entries.push(entry)
    }
    return entries.sort(compareListKeys).slice(0, query.limit)
  }

  /** Names of plain files; none where the root is not there yet. */
  async #names() {
    const found = await readdir(this.#root, { withFileTypes: true }).catch((/** @type {unknown} */ error) => {
      if (systemCode(error) === 'ENOENT') return []
      throw new SessionError('IO', 'the directory of the sessions cannot be read', { path: this.#root, cause: error })
    })
    return found.filter((entry) => entry.isFile()).map(({ name }) => name)
  }

  /**
   * @param {string} name
   * @returns {Promise<Entry | undefined>}
   */
  async #entryOf(name) {
    const named = idOfFileName(name)
    if (named === undefined) return undefined
    const path = join(this.#root, name)
    const bytes = await typed(named.id, () => readBytes(path))
    if (bytes === undefined) return undefined
    const id = named.long ? idInHeader(bytes, named.id) : named.id
    try {
      const { header, events, damage } = scanLog(bytes, id)
      if (damage !== undefined) throw damage
      const state = held.has(path) ? 'open' : 'ready'
      return {
        id,
        state,
        header,
        events: events.length,
        updatedAt: events.at(-1)?.time ?? header.createdAt,
        bytes: bytes.length,
      }
    } catch (error) {
      if (!isSessionError(error)) throw error
      return { id, state: error.code === 'UNSUPPORTED_VERSION' ? 'newer' : 'damaged', bytes: bytes.length, error }
    }
  }

  /** @param {string} id */
  async delete(id) {
    const path = this.#pathOf(id)
    if (held.has(path)) throw locked(id)
    held.add(path)
    try {
      return await typed(id, async () => {
        // The log first: from then on the session is gone, whatever happens to what lies beside it.
        const present = await unlink(path).then(
          () => true,
          (/** @type {unknown} */ error) => (systemCode(error) === 'ENOENT' ? false : Promise.reject(error)),
        )
        const beside = (await this.#names()).filter((name) => name.startsWith(`${fileNameOf(id)}.`))
        for (const name of beside) await unlink(join(this.#root, name))
        // Also where nothing is left to remove: the one who removed it may not have lived to sync it.
        if (await isThere(this.#root)) await syncDirectory(this.#root)
        return present
      })
    } finally {
      held.delete(path)
    }
  }

  /** @param {string} id */
  check(id) {
    return typed(id, async () => {
      const bytes = await readBytes(this.#pathOf(id))
      if (bytes === undefined) throw notFound(id)
      const { events, torn, damage } = scanLog(bytes, id)
      return {
        events: events.length,
        bytes: bytes.length,
        ...(torn === undefined ? {} : { torn }),
        problems: damage === undefined ? [] : [problemOf(damage)],
      }
    })
  }

  async close() {}
}

/** @param {SessionError} damage @returns {import('@session-persistence/core').StorageProblem} */
function problemOf({ message, offset, seq }) {
  return {
    code: 'CORRUPT',
    message,
    ...(offset === undefined ? {} : { offset }),
    ...(seq === undefined ? {} : { seq }),
  }
}

/** The id that a header claims, to be checked by whoever uses it. @param {Buffer} bytes @param {string} otherwise */
function idInHeader(bytes, otherwise) {
  const claimed = /"id":("(?:[^"\\]|\\.)*")/.exec(bytes.toString('utf8', 0, 4096))?.[1]
  const id = claimed === undefined ? otherwise : String(JSON.parse(claimed))
  return idOfFileName(fileNameOf(id))?.id === otherwise ? id : otherwise
}

/** @param {string} id */
function notFound(id) {
  return new SessionError('NOT_FOUND', 'no session with this id is stored here', { sessionId: id })
}

/** @param {string} id */
function locked(id) {
  return new SessionError('LOCKED', `the session is open for writing in this process (pid ${process.pid})`, {
    sessionId: id,
  })
}
