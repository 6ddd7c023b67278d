#!/usr/bin/env node
import { program } from './program.ts'
import { describeFailure } from './report-error.ts'
import { Runtime } from './runtime.ts'

const runtime = new Runtime(process)
try {
  await (await program(runtime, process.argv.slice(2))).parseAsync(process.argv)
  // A command that was stopped may end without an exception of its own.
  if (runtime.signal.aborted) throw runtime.signal.reason
  process.exitCode = runtime.exitCode
} catch (error) {
  const { line, exitCode } = describeFailure(error)
  process.exitCode = exitCode
  if (line !== undefined) await runtime.err.write(`${line}\n`).catch(() => undefined)
}
// Nothing more is read; a terminal or pipe that stays open must not keep the process.
process.stdin.destroy()
