/** Settles as `promise` does, or rejects with `late()` after `deadlineMs`. The timer never keeps the process alive. */
export async function withDeadline<T>(promise: Promise<T>, deadlineMs: number, late: () => unknown): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), deadlineMs)
  })
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** How often a case that goes on may go on: what is alive for so long still has to end. */
export const PATIENCE = 10

/**
 * The same for work whose `progress`, a number that grows, can be seen: `deadlineMs` without any, and {@link PATIENCE}
 * times as long in all. So a busy machine takes longer, and finds the same. `late` hears which of the two it was.
 */
export async function withPatience<T>(
  promise: Promise<T>,
  deadlineMs: number,
  progress: () => number,
  late: (wentOn: boolean) => unknown,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    const wait = (rounds: number): void => {
      const before = progress()
      timer = setTimeout(() => {
        const wentOn = progress() !== before
        if (rounds > 1 && wentOn) wait(rounds - 1)
        else reject(late(wentOn))
      }, deadlineMs)
    }
    wait(PATIENCE)
  })
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
  }
}
