import { Command } from 'commander'
import { label } from '../arguments.ts'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { safeJson } from '../terminal/safe-text.ts'

interface AnnotateCommandOptions extends StoreOptions {
  readonly title?: string
  readonly label?: { readonly [name: string]: string }
  readonly json?: true
}

export function annotateCommand(runtime: Runtime): Command {
  const command = addStoreOptions(
    new Command('annotate').description('give a session a title or labels, without resuming it'),
  )
    .addArgument(sessionArgument())
    .option('--title <text>', 'new title')
    .option('--label <name=value>', 'set a label; may be repeated', label)
    .option('--json', 'one JSON document: { id, head }')
    .addHelpText(
      'after',
      `
A title is one event, all labels together are another one; the head is the receipt of the last.

Example:
  session-persistence annotate 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --title "Parser rewrite" --label kept=yes`,
    )
  return command.action(async (given: string, options: AnnotateCommandOptions) => {
    const { title, label: labels } = options
    if (title === undefined && labels === undefined) command.error('error: give --title or --label')
    await using persistence = await openStore(options)
    const id = await findSession(persistence, given, runtime.signal)
    const head = await persistence.annotate(id, {
      ...(title === undefined ? {} : { title }),
      ...(labels === undefined ? {} : { labels }),
    })
    await runtime.out.write(options.json ? `${safeJson({ id, head })}\n` : `head ${head.seq}:${head.crc}\n`)
  })
}
