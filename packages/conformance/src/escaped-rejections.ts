import { sentenceOf } from './short-value.ts'

/** Rejections that surfaced in the process while `body` ran. Other listeners are set aside for that time. */
export async function escapedRejections(body: () => Promise<void>): Promise<readonly string[]> {
  const escaped: string[] = []
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => escaped.push(sentenceOf(reason)))
  try {
    await body()
    // Node reports a rejection after the microtasks of its turn; two turns of the event loop are enough.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const listener of others) process.on('unhandledRejection', listener)
  }
  return escaped
}
