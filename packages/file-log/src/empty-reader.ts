import type { SessionHeader, StorageReader, StorageTail } from '@session-persistence/core'

const EMPTY: StorageTail = { nextSeq: 0, lastTime: undefined }

/** The reader of a log that nothing was appended to yet. */
export function emptyReader(header: SessionHeader): StorageReader {
  return {
    header,
    tail: EMPTY,
    bytes: 0,
    async *read() {},
    async derived() {
      return undefined
    },
    changed(signal) {
      return new Promise((_, reject) => {
        signal?.throwIfAborted()
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error)
        })
      })
    },
    async close() {},
  }
}
