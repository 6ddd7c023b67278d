#!/usr/bin/env node
import { runCommand } from './command/run-command.ts'

// Not process.exit: what is still in the pipe to a pager or a file must get there.
process.exitCode = await runCommand(process.argv.slice(2))
