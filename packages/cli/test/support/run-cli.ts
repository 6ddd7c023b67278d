import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const main: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface CliOptions {
  readonly input?: string | Buffer
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

export interface CliResult {
  /** A number, or the name of the signal that ended it. */
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts the built command; the caller ends it. */
export function startCli(args: readonly string[], options: CliOptions = {}): ChildProcess {
  const { NO_COLOR: _, FORCE_COLOR: __, SESSION_PERSISTENCE_BACKEND: ___, ...env } = process.env
  return spawn(process.execPath, [main, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
}

/** Runs the built command to its end. A run that hangs is killed and shows as `SIGKILL`. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = startCli(args, options)
  // A command that does not read its input closes it early.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input ?? '')
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000)
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended(child)])
  clearTimeout(deadline)
  return { code, stdout, stderr }
}

export async function ended(child: ChildProcess): Promise<number | string | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.signalCode ?? child.exitCode
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => resolve(signal ?? code))
    child.on('error', reject)
  })
}

/** Resolves with what was printed once it matches. */
export async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk)
    if (pattern.test(text)) return text
  }
  throw new Error(`ended before it printed ${pattern}; it printed: ${text}`)
}

export async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream ?? []) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
