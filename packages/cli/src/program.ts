import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { annotateCommand } from './commands/annotate.ts'
import { contextCommand } from './commands/context.ts'
import { deleteCommand } from './commands/delete.ts'
import { exportCommand } from './commands/export.ts'
import { followCommand } from './commands/follow.ts'
import { forkCommand } from './commands/fork.ts'
import { importCommand } from './commands/import.ts'
import { listCommand } from './commands/list.ts'
import { repairCommand } from './commands/repair.ts'
import { resumeCommand } from './commands/resume.ts'
import { showCommand } from './commands/show.ts'
import { tourAgentCommand, tourCommand } from './commands/tour.ts'
import { verifyCommand } from './commands/verify.ts'
import type { Runtime } from './runtime.ts'

/** The whole command line. Parsing throws a CommanderError for wrong usage, and after `--help`. */
export function program(runtime: Runtime): Command {
  const root = new Command('session-persistence')
    .description('Durable, append-only sessions for AI-agent harnesses: look at them, check, convert and repair them.')
    .version(packageVersion(), '--version', 'print the version')
    .helpCommand('help [command]', 'help for a command')
    .addHelpText(
      'after',
      `
Sessions live in jsonl:./.sessions unless --root, --backend or SESSION_PERSISTENCE_BACKEND says otherwise.
Errors are one line on standard error: session-persistence: CODE: sentence.
Exit codes: 0 done; 1 done, and the answer is no; 2 wrong usage; 3 failed, with a code; 4 a mistake in this program.

Start with: session-persistence tour`,
    )
  const commands = [
    tourCommand,
    importCommand,
    listCommand,
    showCommand,
    contextCommand,
    resumeCommand,
    followCommand,
    forkCommand,
    annotateCommand,
    verifyCommand,
    repairCommand,
    exportCommand,
    deleteCommand,
  ]
  for (const command of commands) root.addCommand(command(runtime))
  root.addCommand(tourAgentCommand(), { hidden: true })
  for (const command of [root, ...root.commands]) throwInsteadOfExit(command)
  return root
}

/** Usage errors leave as exceptions, so that one place prints errors and sets exit codes. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined })
}

function packageVersion(): string {
  const { version }: { version?: unknown } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  return String(version)
}
