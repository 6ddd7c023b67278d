/** Waits until a log is no longer what it was: by path, so that a replaced file and a deleted one are noticed. */
import type { FileStat, FileSystem } from './file-system.ts'
import { ioError, isMissing, systemErrorName } from './io-error.ts'

/** Bounds the delay where no watcher works; one `lstat` of each followed log in that time. */
const POLL_MS = 100

/** Resolves on the first difference from `before`. Rejects with the signal's reason, or when the path cannot be looked at. */
export async function waitForChange(
  fs: FileSystem,
  path: string,
  before: FileStat,
  signal?: AbortSignal,
): Promise<'changed' | 'deleted'> {
  signal?.throwIfAborted()
  let wake: () => void = () => {}
  const hint = (): void => {
    wake()
  }
  const stopWatching = fs.watch(path, hint)
  signal?.addEventListener('abort', hint)
  try {
    for (;;) {
      // Armed before the look, so that no change falls between the two.
      const hinted = new Promise<void>((resolve) => {
        wake = resolve
      })
      const now = await look(fs, path)
      signal?.throwIfAborted()
      if (now === undefined) return 'deleted'
      if (differs(now, before)) return 'changed'
      const timer = setTimeout(hint, POLL_MS)
      await hinted
      clearTimeout(timer)
      signal?.throwIfAborted()
    }
  } finally {
    stopWatching()
    signal?.removeEventListener('abort', hint)
  }
}

async function look(fs: FileSystem, path: string): Promise<FileStat | undefined> {
  try {
    return await fs.lstat(path)
  } catch (error) {
    if (isMissing(error) || systemErrorName(error) === 'ENOTDIR') return undefined
    throw ioError(error, 'look at the log', path)
  }
}

/** A tail that was cut and rewritten at the same length shows in the time only. */
function differs(now: FileStat, before: FileStat): boolean {
  return now.identity !== before.identity || now.size !== before.size || now.modifiedNs !== before.modifiedNs
}
