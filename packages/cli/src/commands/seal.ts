import { Command } from 'commander'
import { sealSession } from 'session-persistence'
import { rememberFailure } from '../remember-failure.ts'
import type { Runtime } from '../runtime.ts'
import { everySessionId, findSession } from '../session-id.ts'
import { addStoreOptions, findStoreOf, openStore, type StoreOptions } from '../store.ts'
import { Progress } from '../terminal/progress.ts'
import { byteSize, plural } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

interface SealCommandOptions extends StoreOptions {
  readonly all?: true
  readonly json?: true
}

export function sealCommand(runtime: Runtime): Command {
  const command = addStoreOptions(
    new Command('seal').description('merge the small frames of jsonl-zstd: sessions; events and receipts stay'),
  )
    .argument('[id...]', 'session ids')
    .option('--all', 'every session of the store')
    .option('--json', 'JSON lines: { id, batches, bytesBefore, bytesAfter } a session')
    .addHelpText(
      'after',
      `
Closing a session does this where it pays; here it is done whenever it saves a byte. A session that cannot be sealed
(damaged, being written) is reported and left as it is; the exit code is 3 then.

Example:
  session-persistence seal --all --backend jsonl-zstd:./sessions`,
    )
  return command.action(async (given: readonly string[], options: SealCommandOptions) => {
    if ((given.length === 0) === (options.all === undefined)) command.error('error: give session ids, or --all')
    const { out, err, signal } = runtime
    const root = await findStoreOf('jsonl-zstd', 'seal', options)
    await using persistence = await openStore(options)
    for await (const each of given.length === 0 ? everySessionId(persistence, signal) : given) {
      try {
        using progress = new Progress(err)
        progress.show(() => `sealing ${safeLine(each)} …`)
        const id = given.length === 0 ? each : await findSession(persistence, each, signal)
        const report = await sealSession({ root }, id, { signal })
        const { batches, bytesBefore, bytesAfter } = report
        const facts = `${plural(batches, 'batch', 'batches')} merged, ${byteSize(bytesBefore)} -> ${byteSize(bytesAfter)}`
        await out.write(options.json ? `${safeJson({ id, ...report })}\n` : `${safeLine(id)}  ${facts}\n`)
      } catch (error) {
        await rememberFailure(runtime, error)
      }
    }
  })
}
