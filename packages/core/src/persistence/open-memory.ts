import { type ArgumentCheck, anOptionsObject, must } from '../argument-checks.ts'
import type { PersistenceOptions } from '../session/persistence-options.ts'
import { MemoryMedium } from '../storage/memory-medium.ts'
import { memoryStorage } from '../storage/memory-storage.ts'
import type { SessionPersistence } from './session-persistence.ts'
import { createPersistence } from './stored-sessions.ts'

export interface MemoryOptions extends PersistenceOptions {
  /** Where the sessions live; a new medium when none is given. Opens of one medium see each other's sessions. */
  readonly medium?: MemoryMedium
}

const aMedium: ArgumentCheck<MemoryMedium> = must('a memory medium', (value) => value instanceof MemoryMedium)

/** Sessions that live as long as their medium: the ephemeral mode, and the reference that other backends are compared with. */
export async function openMemory(options: MemoryOptions = {}): Promise<SessionPersistence> {
  const { medium, ...rest } = anOptionsObject(options)
  if (medium !== undefined) aMedium(medium, 'options.medium')
  return createPersistence(memoryStorage(medium), rest)
}
