/** Milliseconds that `work` takes. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Milliseconds that synchronous `work` takes. */
export function elapsedSync(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}
