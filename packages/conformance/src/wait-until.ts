/** Far more than any bounded delay of the contract; only a broken backend waits so long. */
const PATIENCE_MS = 5_000
const POLL_MS = 5

/** True as soon as `condition` holds, false when it never did. */
export async function waitUntil(condition: () => Promise<boolean>): Promise<boolean> {
  const start = performance.now()
  while (performance.now() - start < PATIENCE_MS) {
    if (await condition()) return true
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return false
}
