/**
 * Milliseconds of CPU time that `work` takes in this process, garbage collection and thread pool included. Unlike the
 * clock it does not count the time that other programs took, nor the wait for a disk.
 */
export async function cpuTime(work: () => Promise<unknown> | unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
