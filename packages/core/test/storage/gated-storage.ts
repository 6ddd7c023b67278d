/** The in-memory storage with a gate and a fault in front of every append: the medium at the moment of a test's choice. */
import type { MemoryMedium } from '../../src/storage/memory-medium.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import type { SessionStorage, StorageWriter, WriterIntent } from '../../src/storage/session-storage.ts'

export interface Gate {
  /** Sizes of the batches that reached the medium. */
  readonly batches: number[]
  /** Errors that the next appends reject with, in order. */
  readonly failures: unknown[]
  /** While held, appends wait. */
  hold(): void
  release(): void
}

export function gatedStorage(medium?: MemoryMedium): { storage: SessionStorage; gate: Gate } {
  const storage = memoryStorage(medium)
  const batches: number[] = []
  const failures: unknown[] = []
  let held: Promise<void> | undefined
  let open = (): void => {}
  const gate: Gate = {
    batches,
    failures,
    hold() {
      held = new Promise((resolve) => {
        open = resolve
      })
    },
    release() {
      held = undefined
      open()
    },
  }
  const openWriter = async (id: string, intent: WriterIntent): Promise<StorageWriter> => {
    const writer = await storage.openWriter(id, intent)
    const append = writer.append.bind(writer)
    writer.append = async (events) => {
      await held
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      batches.push(events.length)
      await append(events)
    }
    return writer
  }
  return {
    gate,
    storage: {
      description: storage.description,
      openWriter,
      openReader: (id) => storage.openReader(id),
      list: (query) => storage.list(query),
      delete: (id) => storage.delete(id),
      check: (id) => storage.check(id),
      close: () => storage.close(),
    },
  }
}
