import { Command } from 'commander'
import { wholeNumber } from '../arguments.ts'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { safeJson } from '../terminal/safe-text.ts'

export function followCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('follow').description('print events as writers add them, until the session is deleted'),
  )
    .addArgument(sessionArgument())
    .option('--from <seq>', 'print from this stored event on; 0 for all (default: only new events)', wholeNumber(0))
    .addHelpText(
      'after',
      `
JSON lines, one event each. End it with Ctrl-C.

Examples:
  session-persistence follow 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10
  session-persistence follow 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --from 0 | jq .type`,
    )
    .action(async (given: string, options: StoreOptions & { readonly from?: number }) => {
      const { signal, out } = runtime
      await using persistence = await openStore(options)
      const id = await findSession(persistence, given, signal)
      const from = options.from ?? (await persistence.inspect(id, { signal })).nextSeq
      for await (const event of persistence.follow(id, { from, signal })) await out.write(`${safeJson(event)}\n`)
    })
}
