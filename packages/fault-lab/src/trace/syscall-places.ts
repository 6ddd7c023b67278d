/** Where the kernel can strike a writer: the n-th of its calls of one kind on its own files. */

import { join } from 'node:path'
import { parseTrace, type StruckCalls } from '@session-persistence/conformance/crash-states'
import type { WriterTask } from '../real/writer-task.ts'
import { sessionsIn } from '../scenario/sessions-directory.ts'
import { runTraced } from './run-traced.ts'

export interface SyscallPlace {
  readonly call: string
  /** From 1, as strace counts. */
  readonly when: number
}

/** Made by node itself, too, when it starts and when it prints: struck only on paths that are known beforehand. */
const SHARED = ['openat', 'write'] as const

/** Made by nobody else in the process: struck wherever they are made. */
const OWN = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'unlink', 'rmdir', 'rename', 'link', 'mkdir'] as const

/** Words of strace that strike a task at a place: `error=EIO`, `signal=KILL`. */
export function strike(task: WriterTask, { call, when }: SyscallPlace, what: string, lasting = false): StruckCalls {
  const rule = `${call}:${what}:when=${when}${lasting ? '+' : ''}`
  return { rule, paths: SHARED.some((shared) => shared === call) ? knownPaths(task) : [] }
}

function knownPaths({ backend, directory }: WriterTask): readonly string[] {
  const root = sessionsIn(directory)
  if (backend === 'sqlite') return [root, ...['', '-wal'].map((suffix) => join(root, `sessions.db${suffix}`))]
  const log = backend === 'jsonl' ? 'session.jsonl' : 'session.jsonl.zst'
  return [root, join(root, 'session'), join(root, 'session', log)]
}

/** Every place of a task, in two runs that nothing disturbs. `prepared`: the task in a directory made anew. */
export async function syscallPlaces(prepared: () => WriterTask, traceFile: string): Promise<readonly SyscallPlace[]> {
  const found: SyscallPlace[] = []
  for (const kinds of [SHARED, OWN]) {
    const task = prepared()
    const { trace } = await runTraced(task, traceFile, strike(task, { call: kinds[0], when: 65_535 }, 'error=EIO'))
    for (const call of kinds) for (let when = 1; when <= mostOfAThread(trace, call); when++) found.push({ call, when })
  }
  return found
}

/** strace counts the calls of each thread for itself, and strikes all of them at their n-th. */
function mostOfAThread(trace: string, call: string): number {
  const counts = new Map<string, number>()
  for (const { name, thread } of parseTrace(trace)) {
    if (name === call) counts.set(thread, (counts.get(thread) ?? 0) + 1)
  }
  return Math.max(0, ...counts.values())
}
