import os from 'node:os'

/** Aborted by the first SIGINT, SIGTERM or SIGHUP; the second ends the process at once, which still removes its stores. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(128 + os.constants.signals[name])
      stop.abort(new Error('interrupted'))
    })
  }
  return stop.signal
}
