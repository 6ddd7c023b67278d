import { Command } from 'commander'
import { backupSqlite } from 'session-persistence'
import type { Runtime } from '../runtime.ts'
import { addStoreOptions, findStoreOf, type StoreOptions } from '../store.ts'
import { byteSize } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

export function backupCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('backup').description('copy a sqlite: store as it is now into a new file, also while it is written'),
  )
    .argument('<file>', 'the copy; a file that exists is not replaced')
    .option('--json', 'one JSON document: { file, bytes }')
    .addHelpText(
      'after',
      `
The copy is one file, complete and synced, and there only when it is whole. A damaged database is not copied (CORRUPT).

Example:
  session-persistence backup sessions-backup.db --backend sqlite:./sessions.db`,
    )
    .action(async (to: string, options: StoreOptions & { readonly json?: true }) => {
      const report = await backupSqlite({ file: await findStoreOf('sqlite', 'backup', options), to })
      const text = options.json ? safeJson(report) : `${safeLine(report.file)}  ${byteSize(report.bytes)}`
      await runtime.out.write(`${text}\n`)
    })
}
