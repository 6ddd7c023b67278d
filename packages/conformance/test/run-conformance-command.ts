import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export interface CommandResult {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Runs the built command to its end. */
export function runConformanceCommand(args: readonly string[], cwd?: string): Promise<CommandResult> {
  return runNode([command, ...args], { cwd })
}

/** Runs Node on a built module to its end. */
export function runNode(
  args: readonly string[],
  options: { readonly cwd?: string | undefined; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<CommandResult> {
  // A runner that finds itself inside another one would run nothing.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = spawn(process.execPath, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...inherited, NODE_OPTIONS: '', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pieces = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    pieces.output += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    pieces.errors += piece
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...pieces }))
  })
}
