import { describeFailure } from './report-error.ts'
import type { Runtime } from './runtime.ts'

/** For commands that work on several things: reports one failure now and in the exit code, and lets them go on. */
export async function rememberFailure(runtime: Runtime, error: unknown): Promise<void> {
  runtime.signal.throwIfAborted()
  const { line, exitCode } = describeFailure(error)
  runtime.exitCode = exitCode
  if (line !== undefined) await runtime.err.write(`${line}\n`)
}
