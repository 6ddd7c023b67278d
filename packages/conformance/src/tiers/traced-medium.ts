/** The directory of a medium: laid out and taken down at will, with processes that work on it under strace. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import type { CaseContext } from '../conformance-case.ts'
import { DiskImage } from '../crash/disk-image.ts'
import { withDeadline } from '../deadline.ts'
import { Violation } from '../expectation.ts'
import { type StruckCalls, straceCommand, TRACED_ENVIRONMENT } from '../trace/strace.ts'
import type { WorkerLine, WorkerStep } from '../worker-process.ts'

/** Bytes of a medium that is kept in memory as a whole: what the workload stores is far below. */
const MEDIUM_BYTES_MAX = 64 * 1024 * 1024

/** Milliseconds after which a process whose disk fails hangs: it waits for nothing else. */
const HANGING_MS = 60_000

/** Tries of a flush: an error that passes must pass within them. */
const RETRIES = 5

export interface TracedRun {
  readonly lines: readonly WorkerLine[]
  /** What strace wrote. */
  readonly trace: string
}

export interface TracedRunOptions {
  /** The same seed makes the same names in every run. */
  readonly seed: number
  readonly struck?: StruckCalls
  readonly calls?: readonly string[]
  /** Whether the trace is to be replayed. */
  readonly strings?: boolean
  /** What is being done to the process, for the sentence about one that hangs. */
  readonly when?: string
}

export class TracedMedium {
  /** The directory that was there before anything was stored. */
  readonly directory: string
  /** The same by all its names. */
  readonly directories: readonly string[]
  readonly #context: CaseContext
  readonly #scratch: string

  private constructor(context: CaseContext, directory: string, scratch: string) {
    this.#context = context
    this.directory = directory
    this.directories = [...new Set([directory, realpathSync(directory)])]
    this.#scratch = scratch
  }

  /** Does something with the medium of a case; ends the case as skipped where it is not one of files in a directory. */
  static async use(context: CaseContext, action: (medium: TracedMedium) => Promise<void>): Promise<void> {
    const { medium } = context
    if (medium.location === undefined || !isAbsolute(medium.location)) {
      context.skip('the medium has no `location` that is an absolute path')
    }
    if (!medium.listsFiles) context.skip('the medium has no `files`')
    const directory = existingDirectory(medium.location)
    if ([realpathSync(tmpdir()), '/'].includes(realpathSync(directory))) {
      context.skip(
        'the `location` of the medium is in no directory of its own, which `createMedium` would have to make',
      )
    }
    // All that is in it is removed and laid out anew, many times.
    const stranger = await strangerIn(directory, context)
    if (stranger !== undefined) {
      context.skip(`the directory of the \`location\` holds files that the medium does not list: ${stranger}`)
    }
    const scratch = mkdtempSync(join(tmpdir(), 'session-persistence-trace-'))
    try {
      await action(new TracedMedium(context, directory, scratch))
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  }

  /** Files of the medium that are not in the directory. */
  async filesElsewhere(): Promise<readonly string[]> {
    const files = await this.#context.medium.files()
    return files.filter((path) => this.directories.every((directory) => relative(directory, path).startsWith('..')))
  }

  /** What is in the directory now, as the system shows it. */
  image(): DiskImage {
    const nodes = new Map<string, Buffer | undefined>()
    let bytes = 0
    const walk = (prefix: string): void => {
      for (const entry of readdirSync(join(this.directory, prefix), { withFileTypes: true })) {
        const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
        if (!entry.isDirectory() && !entry.isFile())
          this.#context.skip('the medium holds more than files and directories')
        const content = entry.isFile() ? readFileSync(join(this.directory, path)) : undefined
        bytes += content?.length ?? 0
        if (bytes > MEDIUM_BYTES_MAX) this.#context.skip(`the medium holds more than ${MEDIUM_BYTES_MAX} bytes`)
        nodes.set(path, content)
        if (content === undefined) walk(path)
      }
    }
    walk('')
    return new DiskImage(nodes)
  }

  /** Puts an image in the place of all that is in the directory. Nothing may have the medium open. */
  restore(image: DiskImage): void {
    for (const name of readdirSync(this.directory)) rmSync(join(this.directory, name), { recursive: true, force: true })
    image.writeTo(this.directory)
  }

  /** A process that does the steps. Fails where it hangs. */
  async run(steps: readonly WorkerStep[], options: TracedRunOptions): Promise<TracedRun> {
    const { seed, struck, calls, strings = true, when = '' } = options
    const output = join(this.#scratch, 'trace')
    const traced = { output, strings, ...(calls && { calls }), ...(struck && { struck }) }
    const worker = this.#context.spawn(
      { kind: 'script', steps, retries: RETRIES },
      { launcher: straceCommand(traced), env: TRACED_ENVIRONMENT, steadySeed: seed },
    )
    const late = (): Violation => new Violation(`a process hangs ${when}: it did not end in ${HANGING_MS / 1000} s`)
    try {
      await withDeadline(worker.finish(), HANGING_MS, late)
    } finally {
      await worker.kill()
    }
    // A harness module that cannot be used says so here.
    if (worker.lines.length === 0 && struck === undefined) await worker.next()
    return { lines: worker.lines, trace: readFileSync(output, 'latin1') }
  }
}

/** The first file in the directory that `files` does not name. */
async function strangerIn(directory: string, { medium }: CaseContext): Promise<string | undefined> {
  const found = readdirSync(directory, { withFileTypes: true, recursive: true }).filter((entry) => !entry.isDirectory())
  if (found.length === 0) return undefined
  const listed = new Set((await medium.files()).map(realPath))
  return found.map(({ parentPath, name }) => join(parentPath, name)).find((path) => !listed.has(realPath(path)))
}

/** Of what a link leads to nobody can be sure: it counts as itself. */
function realPath(path: string): string {
  return join(realpathSync(dirname(path)), basename(path))
}

function existingDirectory(path: string): string {
  try {
    if (statSync(path).isDirectory()) return path
  } catch {
    // not made yet: what makes it must make its name durable too
  }
  return existingDirectory(dirname(path))
}
