// The same backend with one mistake, to see how the kit reports one: `to` is taken for exclusive.
import { createPersistence } from '@session-persistence/core'
import { AcmeReader } from '../src/reader.js'
import { AcmeStorage } from '../src/storage.js'
import { harness as sound } from './harness.js'

class BrokenReader extends AcmeReader {
  /** @param {import('@session-persistence/core').StorageReadRange} range */
  read(range) {
    return super.read(range.to === undefined ? range : { ...range, to: range.to - 1 })
  }
}

class BrokenStorage extends AcmeStorage {
  /** @param {string} id */
  async openReader(id) {
    return Object.setPrototypeOf(await super.openReader(id), BrokenReader.prototype)
  }
}

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = {
  ...sound,
  name: 'acme, with a mistake',
  async createMedium() {
    const medium = await sound.createMedium()
    return { ...medium, open: async (options) => createPersistence(new BrokenStorage(medium.location ?? ''), options) }
  },
  openAt: async (root, options) => createPersistence(new BrokenStorage(root), options),
}
