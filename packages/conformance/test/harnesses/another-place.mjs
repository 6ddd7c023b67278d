// A harness whose `openAt` opens another place than its `open`.
import { createMemoryMedium, openMemory } from '@session-persistence/core'

/** @typedef {import('@session-persistence/core').PersistenceOptions} PersistenceOptions */

/**
 * In memory, and said to outlive the process: whoever asks elsewhere must find what was stored.
 *
 * @param {import('@session-persistence/core').MemoryMedium} medium
 * @param {PersistenceOptions} options
 */
async function openLasting(medium, options) {
  const inner = await openMemory({ ...options, medium })
  const { description } = inner
  const capabilities = Object.freeze({ ...description.capabilities, durability: 'process' })
  const lasting = Object.freeze({ ...description, capabilities })
  return new Proxy(inner, {
    get: (target, key) => {
      if (key === 'description') return lasting
      const value = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

let media = 0

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = {
  name: 'wrong',
  createMedium: () => {
    const medium = createMemoryMedium()
    media += 1
    return {
      location: `medium ${media}`,
      open: (/** @type {PersistenceOptions} */ options = {}) => openLasting(medium, options),
    }
  },
  module: import.meta.url,
  openAt: (_location, options = {}) => openLasting(createMemoryMedium(), options),
}
