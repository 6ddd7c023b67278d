/** How a process is run under strace: what of it is written down, and which of its calls the kernel lets fail. */
import { spawnSync } from 'node:child_process'

/**
 * What changes a file system, or promises something on standard output. Some exist on some architectures only, hence
 * the question marks.
 */
export const CHANGING_CALLS: readonly string[] = [
  ...['openat', '?open', '?creat', 'close', 'lseek', 'dup', '?dup2', 'dup3'],
  ...['write', 'writev', 'pwrite64', '?pwritev', '?pwritev2'],
  ...['ftruncate', '?truncate', 'fallocate', '?copy_file_range', '?sendfile', 'mmap'],
  ...['fsync', 'fdatasync', 'sync', '?syncfs', '?sync_file_range'],
  ...['?mkdir', 'mkdirat', '?rmdir', '?unlink', 'unlinkat', '?link', 'linkat', '?symlink', 'symlinkat'],
  ...['?rename', '?renameat', '?renameat2', '?io_uring_setup'],
]

/** One pool thread and no io_uring: calls are then seen, counted and struck in one order. */
export const TRACED_ENVIRONMENT: Readonly<Record<string, string>> = { UV_THREADPOOL_SIZE: '1', UV_USE_IO_URING: '0' }

/** Calls that the kernel lets fail. */
export interface StruckCalls {
  /** In strace's own words: `fsync:error=EIO:when=3`, or `when=3+` for all from then on. */
  readonly rule: string
  /** Only calls on these very paths are seen and counted; all calls where there is none. */
  readonly paths: readonly string[]
}

export interface TraceOptions {
  /** File for what strace writes. */
  readonly output: string
  /** Default {@link CHANGING_CALLS}. */
  readonly calls?: readonly string[]
  /** Whether whole strings are written, for a replay; default true. */
  readonly strings?: boolean
  readonly struck?: StruckCalls
}

/** The command to put before the program. */
export function straceCommand({ output, calls = CHANGING_CALLS, strings = true, struck }: TraceOptions): string[] {
  const filter =
    struck === undefined ? [] : [...struck.paths.flatMap((path) => ['-P', path]), '-e', `inject=${struck.rule}`]
  // Stops at nothing but the traced calls, twice as fast; but then strace sends no signals.
  const fast = struck?.rule.includes('signal=') === true ? [] : ['--seccomp-bpf']
  const length = strings ? ['-s', '2000000'] : ['-s', '4096']
  const events = ['-e', `trace=${calls.join(',')}`, '-e', 'signal=none']
  return ['strace', '-f', ...fast, '-xx', ...length, '-o', output, ...events, ...filter]
}

let problem: { readonly found: string | undefined } | undefined

/** Why no process can be traced here, a few words; undefined when it can. Looked at once. */
export function straceProblem(): string | undefined {
  problem ??= { found: tryTrace() }
  return problem.found
}

function tryTrace(): string | undefined {
  if (process.platform !== 'linux') return 'needs strace, which Linux alone has'
  const [command = '', ...args] = straceCommand({ output: '/dev/null', struck: { rule: 'fsync:error=EIO', paths: [] } })
  const { error, status, stderr } = spawnSync(command, [...args, 'true'], { encoding: 'utf8' })
  if (error !== undefined) return 'strace is not installed'
  return status === 0 ? undefined : `strace cannot trace a process here: ${stderr.split('\n')[0] ?? ''}`
}
