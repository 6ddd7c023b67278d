/** Random numbers of a whole process from one seed, so that it makes the same calls on the same paths at every run. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { seededRandom } from './seeded-random.ts'

/** The environment variable that holds the seed. */
export const STEADY_SEED = 'SESSION_PERSISTENCE_STEADY_SEED'

/** Replaces every source of random names that Node has. For the worker process alone, before a backend is loaded. */
export function steadyNames(seed: number): void {
  const random = seededRandom(seed)
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(random() * 256)
    return view
  }
  const randomBytes = (size: number, callback?: (error: null, bytes: Buffer) => void): Buffer | undefined => {
    const bytes = fill(Buffer.alloc(size))
    if (callback === undefined) return bytes
    queueMicrotask(() => callback(null, bytes))
    return undefined
  }
  const randomUUID = (): string => {
    const hex = fill(Buffer.alloc(16)).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  Math.random = random
  Object.assign(crypto, { randomBytes, randomUUID, randomFillSync: fill })
  Object.assign(globalThis.crypto, { randomUUID, getRandomValues: fill })
  syncBuiltinESMExports()
}
