/** Reads what strace wrote: system calls on one directory, by the phase of the program that made them. */

/** What a phase asked of the operating system. Deterministic for a given program and input. */
export interface PhaseCalls {
  /** fsync, fdatasync, and writes to files opened to sync by themselves. */
  readonly syncs: number
  readonly writes: number
  /** All traced calls that concern the directory. */
  readonly calls: number
}

/** The calls that are traced. */
export const TRACED: readonly string[] = [
  ...['open', 'openat', 'creat', 'close', 'read', 'pread64', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate'],
  ...['fsync', 'fdatasync', 'sync_file_range', 'msync', 'fallocate', 'mkdir', 'rmdir', 'unlink', 'rename', 'renameat2'],
  ...['stat', 'lstat', 'fstat', 'newfstatat', 'statx', 'getdents64'],
]

const MARK = /^write\(2(?:<[^>]*>)?, "phase:([a-z0-9-]+)\\n"/
const CALL = /^(\w+)\((.*)$/s
const OPENED = /= (\d+)(?:<.*>)?$/
const DESCRIPTOR = /^(\d+)/
const WRITES: ReadonlySet<string> = new Set(['write', 'writev', 'pwrite64', 'pwritev'])
const SYNCS: ReadonlySet<string> = new Set(['fsync', 'fdatasync', 'msync'])

/** What a program writes to standard error when a phase begins; shows in the trace. */
export function phaseMark(phase: string): string {
  return `phase:${phase}\n`
}

/**
 * Counts by phase, once for every time that the phase was announced. `trace` is the text of `strace -f -y -e
 * trace=...`; `directory` the real path that counts. What happens before the first mark counts for nothing.
 */
export function countPhases(trace: string, directory: string): ReadonlyMap<string, readonly PhaseCalls[]> {
  const phases = new Map<string, { syncs: number; writes: number; calls: number }[]>()
  const syncing = new Set<string>()
  let phase: { syncs: number; writes: number; calls: number } | undefined
  for (const line of wholeCalls(trace)) {
    const mark = MARK.exec(line)?.[1]
    if (mark !== undefined) {
      phase = { syncs: 0, writes: 0, calls: 0 }
      phases.set(mark, [...(phases.get(mark) ?? []), phase])
      continue
    }
    const [, name = '', rest = ''] = CALL.exec(line) ?? []
    const descriptor = DESCRIPTOR.exec(rest)?.[1] ?? ''
    if (name.startsWith('open')) note(syncing, rest)
    if (!line.includes(directory) || phase === undefined) continue
    phase.calls++
    if (WRITES.has(name)) phase.writes++
    if (SYNCS.has(name) || (WRITES.has(name) && syncing.has(descriptor))) phase.syncs++
  }
  return phases
}

/** Which descriptors sync by themselves, as far as they were opened in the trace. */
function note(syncing: Set<string>, rest: string): void {
  const opened = OPENED.exec(rest)?.[1]
  if (opened === undefined) return
  if (/\bO_D?SYNC\b/.test(rest)) syncing.add(opened)
  else syncing.delete(opened)
}

/** Joins what strace split because another thread's call came in between, and takes the process ids off. */
function* wholeCalls(trace: string): Generator<string> {
  const begun = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const [, pid = '', text = line] = /^(?:\[pid\s+)?(\d+)\]?\s+(.*)$/.exec(line) ?? []
    const unfinished = text.indexOf(' <unfinished ...>')
    if (unfinished !== -1) {
      begun.set(pid, text.slice(0, unfinished))
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>\s?(.*)$/.exec(text)?.[1]
    if (resumed === undefined) yield text
    else {
      yield `${begun.get(pid) ?? ''}${resumed}`
      begun.delete(pid)
    }
  }
}
