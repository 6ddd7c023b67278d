import { Command } from 'commander'
import { compactSqlite } from 'session-persistence'
import type { Runtime } from '../runtime.ts'
import { addStoreOptions, findStoreOf, type StoreOptions } from '../store.ts'
import { byteSize, plural } from '../terminal/quantity.ts'
import { safeJson } from '../terminal/safe-text.ts'

export function compactCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('compact').description('give back the space that a sqlite: store does not need; events stay'),
  )
    .option('--json', 'one JSON document: { before, after, repacked, open, damaged }')
    .addHelpText(
      'after',
      `
Needs about the size of the database in free space. Sessions that are being written are left as they are.

Example:
  session-persistence compact --backend sqlite:./sessions.db`,
    )
    .action(async (options: StoreOptions & { readonly json?: true }) => {
      const report = await compactSqlite({ file: await findStoreOf('sqlite', 'compact', options) })
      if (options.json) return await runtime.out.write(`${safeJson(report)}\n`)
      const { before, after, repacked, open, damaged } = report
      await runtime.out.lines([
        `${byteSize(before)} -> ${byteSize(after)}, ${plural(repacked, 'record')} merged into others`,
        ...(open === 0 ? [] : [`left as they are, since they are being written: ${plural(open, 'session')}`]),
        ...(damaged === 0 ? [] : [`left as they are, since they are damaged: ${plural(damaged, 'session')}`]),
      ])
    })
}
