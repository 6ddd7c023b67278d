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
