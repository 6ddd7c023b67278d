import fs from 'node:fs'

/**
 * Most bytes that were ever resident in this process. On Linux from /proc: `resourceUsage().maxRSS` there starts with
 * what the parent held when it forked.
 */
export function peakMemory(): number {
  if (process.platform === 'linux') {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]
    if (kilobytes !== undefined) return Number(kilobytes) * 1024
  }
  return process.resourceUsage().maxRSS * 1024
}
