import { createPersistence } from '@session-persistence/core'
import { AcmeStorage } from './storage.js'

/**
 * Opens the sessions below `root`. Everything above the storage port (checks, queue, recovery, forks, pages) is core's.
 *
 * @param {{ readonly root: string } & import('@session-persistence/core').PersistenceOptions} options
 */
export async function openAcme({ root, ...options }) {
  return createPersistence(new AcmeStorage(root), options)
}
