import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import type { Runtime } from './runtime.ts'

/** Makers of the commands, in the order of the help; each is loaded when it is needed, which halves the start. */
const makers: { readonly [name: string]: () => Promise<(runtime: Runtime) => Command> } = {
  tour: async () => (await import('./commands/tour.ts')).tourCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  list: async () => (await import('./commands/list.ts')).listCommand,
  show: async () => (await import('./commands/show.ts')).showCommand,
  context: async () => (await import('./commands/context.ts')).contextCommand,
  resume: async () => (await import('./commands/resume.ts')).resumeCommand,
  follow: async () => (await import('./commands/follow.ts')).followCommand,
  fork: async () => (await import('./commands/fork.ts')).forkCommand,
  annotate: async () => (await import('./commands/annotate.ts')).annotateCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  repair: async () => (await import('./commands/repair.ts')).repairCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  convert: async () => (await import('./commands/convert.ts')).convertCommand,
  seal: async () => (await import('./commands/seal.ts')).sealCommand,
  compact: async () => (await import('./commands/compact.ts')).compactCommand,
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  delete: async () => (await import('./commands/delete.ts')).deleteCommand,
  bench: async () => (await import('./commands/bench.ts')).benchCommand,
}

/** Process A of the tour. Not for people, hence not in the help. */
const hiddenName = 'tour-agent'

/** The command line for these arguments. Parsing throws a CommanderError for wrong usage, and after `--help`. */
export async function program(runtime: Runtime, args: readonly string[]): Promise<Command> {
  const root = new Command('session-persistence')
    .description('Durable, append-only sessions for AI-agent harnesses: look at them, check, convert and repair them.')
    .version(packageVersion(), '--version', 'print the version')
    .helpCommand('help [command]', 'help for a command')
    .addHelpText(
      'after',
      `
Sessions live in jsonl:./sessions, unless --root, --backend or the variable
SESSION_PERSISTENCE_BACKEND says otherwise.

Errors are one line on standard error: session-persistence: CODE: sentence.
Exit codes: 0 done; 1 done, and the answer is no; 2 wrong usage; 3 failed, with a
code; 4 a mistake in this program.

Start with: session-persistence tour`,
    )
  for (const command of await commandsFor(runtime, args[0] ?? '')) {
    root.addCommand(command, { hidden: command.name() === hiddenName })
  }
  for (const command of [root, ...root.commands]) throwInsteadOfExit(command)
  return root
}

/** The one command that is named first, or all of them: for the help, and to suggest what may have been meant. */
async function commandsFor(runtime: Runtime, first: string): Promise<readonly Command[]> {
  if (first === hiddenName) return [(await import('./commands/tour.ts')).tourAgentCommand()]
  const named = Object.hasOwn(makers, first) ? makers[first] : undefined
  const needed = named === undefined ? Object.values(makers) : [named]
  return await Promise.all(needed.map(async (make) => (await make())(runtime)))
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
