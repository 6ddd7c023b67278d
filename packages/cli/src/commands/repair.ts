import { isSessionError, type RepairReport, SessionError } from '@session-persistence/core'
import { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import type { Runtime } from '../runtime.ts'
import { noSuchFullId } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { Progress } from '../terminal/progress.ts'
import { plural } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

interface RepairCommandOptions extends StoreOptions {
  readonly write?: true
  readonly json?: true
}

export function repairCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('repair').description(
      'salvage what can be proven of a damaged log; by default only says what would be kept',
    ),
  )
    .argument('<id>', 'full session id')
    .option('--write', 'do it; the damaged original is kept beside the log')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Exit code 1 when a dry run found something to repair.

Examples:
  session-persistence repair 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10
  session-persistence repair 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --write`,
    )
    .action(async (id: string, options: RepairCommandOptions) => {
      await using persistence = await openStore(options)
      const dryRun = options.write !== true
      const report = await repair(runtime, () => persistence.repair(id, { dryRun, signal: runtime.signal })).catch(
        (error: unknown) => {
          if (!isSessionError(error, 'NOT_FOUND')) throw error
          throw new SessionError('NOT_FOUND', noSuchFullId, { sessionId: id, cause: error })
        },
      )
      if (dryRun && report.lost.length > 0) runtime.exitCode = EXIT.negative
      await (options.json ? runtime.out.write(`${safeJson(report)}\n`) : print(runtime, report))
    })
}

async function repair({ err }: Runtime, work: () => Promise<RepairReport>): Promise<RepairReport> {
  using progress = new Progress(err)
  progress.show(() => 'reading every record …')
  return await work()
}

async function print({ out }: Runtime, { dryRun, kept, lost, originalAt }: RepairReport): Promise<void> {
  const nothing = lost.length === 0
  await out.lines([
    `${dryRun ? 'would keep' : 'kept'} ${plural(kept, 'event')}${nothing ? '; nothing is damaged' : `; lost${dryRun ? ' would be' : ''}:`}`,
    ...lost.map((each) => `  ${placeOf(each)}${safeLine(each.message)}`),
    ...(originalAt === undefined ? [] : [`the original is at ${safeLine(originalAt)}`]),
    ...(dryRun && !nothing ? ['nothing was written: --write does it'] : []),
  ])
}

/** Where the loss is, by the same numbers as in `--json`. */
function placeOf({ from, to, offset, bytes }: RepairReport['lost'][number]): string {
  if (from !== undefined) {
    if (to === undefined || to === Number.MAX_SAFE_INTEGER) return `from seq ${from}: `
    return from === to ? `seq ${from}: ` : `seq ${from} to ${to}: `
  }
  if (offset === undefined) return ''
  return bytes === undefined ? `offset ${offset}: ` : `offset ${offset} to ${offset + bytes - 1}: `
}
