import type { PersistenceOptions } from '../session/persistence-options.ts'
import type { MemoryMedium } from '../storage/memory-medium.ts'
import { memoryStorage } from '../storage/memory-storage.ts'
import type { SessionPersistence } from './session-persistence.ts'
import { createPersistence } from './stored-sessions.ts'

export interface MemoryOptions extends PersistenceOptions {
  /** Where the sessions live; a new medium when none is given. Opens of one medium see each other's sessions. */
  readonly medium?: MemoryMedium
}

/** Sessions that live as long as their medium: the ephemeral mode, and the reference that other backends are compared with. */
export async function openMemory(options: MemoryOptions = {}): Promise<SessionPersistence> {
  const { medium, ...rest } = options
  return createPersistence(memoryStorage(medium), rest)
}
