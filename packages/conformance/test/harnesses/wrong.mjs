// Harnesses that are wrong in one way each. The tests of the command load them one by one.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryMedium, openMemory } from '@session-persistence/core'

/** @typedef {import('@session-persistence/conformance').Harness} Harness */
/** @typedef {import('@session-persistence/core').PersistenceOptions} PersistenceOptions */

function soundMedium() {
  const medium = createMemoryMedium()
  return { open: (/** @type {PersistenceOptions} */ options = {}) => openMemory({ ...options, medium }) }
}

/** A directory that is gone when this process is, whatever the harness does about it. @param {string} name */
function scratch(name) {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  process.once('exit', () => rmSync(path, { recursive: true, force: true }))
  return path
}

/** @param {Partial<Harness>} parts @returns {Harness} */
const harnessOf = (parts) => ({ name: 'wrong', createMedium: soundMedium, ...parts })

const place = createMemoryMedium()
export const samePlaceTwice = harnessOf({
  createMedium: () => ({ open: (options = {}) => openMemory({ ...options, medium: place }) }),
})

const medium = soundMedium()
export const sameMediumTwice = harnessOf({ createMedium: () => medium })

export const throwsInCreateMedium = harnessOf({
  createMedium: () => {
    throw new Error('no disk\n    at someone (else.js:1:1)')
  },
})

export const hangsInCreateMedium = harnessOf({ createMedium: () => new Promise(() => {}) })

export const hangsInOpen = harnessOf({ createMedium: () => ({ open: () => new Promise(() => {}) }) })

export const hasNoOpen = harnessOf({ createMedium: () => /** @type {any} */ ({ opens: true }) })

export const blocksTheEventLoop = harnessOf({
  createMedium: () => {
    for (;;);
  },
})

export const exitsWithZero = harnessOf({
  createMedium: () => {
    process.exit(0)
  },
})

export const throwsLater = harnessOf({
  createMedium: () => {
    setImmediate(() => {
      throw new Error('thrown by a timer')
    })
    return new Promise(() => {})
  },
})

export const leaksAFile = harnessOf({
  createMedium: () => {
    const location = scratch('leaking-harness')
    const { open } = soundMedium()
    return {
      location,
      open: async (options) => {
        openSync(join(location, 'kept-open'), 'a')
        return open(options)
      },
      destroy: () => rmSync(location, { recursive: true }),
    }
  },
})

export const leaksATimer = harnessOf({
  createMedium: () => {
    const { open } = soundMedium()
    return {
      open: async (options) => {
        setInterval(() => {}, 60_000)
        return open(options)
      },
    }
  },
})

export const destroysHalf = harnessOf({
  createMedium: () => {
    const location = scratch('half-destroyed')
    closeSync(openSync(join(location, 'left-behind'), 'a'))
    return { ...soundMedium(), files: () => [join(location, 'left-behind')], destroy: () => {} }
  },
})

export const listsRelativePaths = harnessOf({
  createMedium: () => ({ ...soundMedium(), files: () => ['session.log'] }),
})

/** @param {Partial<import('@session-persistence/core').BackendCapabilities>} capabilities */
const declaring = (capabilities) =>
  harnessOf({
    createMedium: () => ({
      open: async (options = {}) => {
        const inner = await openMemory({ ...options, medium: createMemoryMedium() })
        const { description } = inner
        const declared = Object.freeze({
          ...description,
          capabilities: Object.freeze({ ...description.capabilities, ...capabilities }),
        })
        return new Proxy(inner, {
          get: (target, key) => {
            if (key === 'description') return declared
            const value = Reflect.get(target, key, target)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      },
    }),
  })

export const liesAboutRepair = declaring({ repair: 'salvage' })

export const inventsALevel = declaring({ exclusion: /** @type {any} */ ('planet') })

export const knowsNoSuchClause = harnessOf({ knownFailures: { 'READ-999': 'https://example.org/1' } })

export const knowsWithoutAnAddress = harnessOf({ knownFailures: { 'READ-1': 'some day' } })

export const dropsItsOptions = harnessOf({ createMedium: () => ({ open: () => openMemory() }) })

export { harness as opensAnotherPlace } from './another-place.mjs'
