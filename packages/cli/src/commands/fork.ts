import type { ForkOptions } from '@session-persistence/core'
import { Command, Option } from 'commander'
import { label, wholeNumber } from '../arguments.ts'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

interface ForkCommandOptions extends StoreOptions {
  readonly turn?: number
  readonly at?: number
  readonly before?: number
  readonly id?: string
  readonly reason?: string
  readonly label?: { readonly [name: string]: string }
  readonly json?: true
}

export function forkCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('fork').description(
      'make a child session that shares the beginning of another; the parent stays as it is',
    ),
  )
    .addArgument(sessionArgument())
    .option('--turn <n>', 'last turn to share, up to its end', wholeNumber(1))
    .addOption(
      new Option('--at <seq>', 'last event to share; must be where no turn is open (default: the newest such place)')
        .argParser(wholeNumber(0))
        .conflicts('turn'),
    )
    .addOption(
      new Option('--before <seq>', 'first event not to share').argParser(wholeNumber(0)).conflicts(['at', 'turn']),
    )
    .option('--id <id>', 'id of the child (default: a new one)')
    .option('--reason <text>', 'kept in the child')
    .option('--label <name=value>', 'label of the child; may be repeated', label)
    .option('--json', 'one JSON document: { id, parent, at }')
    .addHelpText(
      'after',
      `
Prints the child's id.

Examples:
  session-persistence fork 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10
  session-persistence fork 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --turn 3
  session-persistence fork 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --at 120 --label try=second`,
    )
    .action(async (given: string, options: ForkCommandOptions) => {
      await using persistence = await openStore(options)
      const id = await findSession(persistence, given, runtime.signal)
      await using child = await persistence.fork(id, forkOptions(options))
      await child.flush()
      const { header } = child
      const facts = { id: child.id, parent: id, at: (header.seedLength ?? 0) - 1 }
      await runtime.out.write(options.json ? `${safeJson(facts)}\n` : `${safeLine(child.id)}\n`)
    })
}

function forkOptions({ turn, at, before, id, reason, label: labels }: ForkCommandOptions): ForkOptions {
  const position = turn !== undefined ? { turn } : at !== undefined ? { at } : before !== undefined ? { before } : {}
  return {
    ...position,
    ...(id === undefined ? {} : { id }),
    ...(reason === undefined ? {} : { reason }),
    ...(labels === undefined ? {} : { labels }),
  }
}
