import type { StorageReader } from './session-storage.ts'

/** Reads through a reader that is closed afterwards, whatever comes of it. */
export async function withReader<T>(
  opening: Promise<StorageReader>,
  use: (reader: StorageReader) => Promise<T>,
): Promise<T> {
  const reader = await opening
  try {
    return await use(reader)
  } finally {
    await reader.close()
  }
}
