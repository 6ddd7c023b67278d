import type { HeadReceipt, SessionPersistence, VerifyReport } from '@session-persistence/core'
import { Command } from 'commander'
import { headReceipt } from '../arguments.ts'
import { EXIT } from '../exit-codes.ts'
import { rememberFailure } from '../remember-failure.ts'
import type { Runtime } from '../runtime.ts'
import { everySessionId, findSession } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { Progress } from '../terminal/progress.ts'
import { byteSize, plural } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

interface VerifyCommandOptions extends StoreOptions {
  readonly all?: true
  readonly expect?: HeadReceipt
  readonly json?: true
}

export function verifyCommand(runtime: Runtime): Command {
  const command = addStoreOptions(new Command('verify').description('check every record of sessions; writes nothing'))
    .argument('[id...]', 'session ids')
    .option('--all', 'every session of the store')
    .option('--expect <seq:crc>', 'a receipt that the log must hold', headReceipt)
    .option('--json', 'JSON lines: one report a session')
    .addHelpText(
      'after',
      `
Exit code 1 if any log has problems, 3 if one could not be read at all; the others are checked all the same. A torn tail alone, bytes at the end that
hold no whole batch, is no problem: a resume cuts it and keeps the bytes. Whether something else cut away events that were
acknowledged, a receipt of the last one tells for certain (--expect: exit code 1). A summary beside the log may know of it too: then a
note names what is missing, which does not change the exit code, since a repair may have given it up.

Examples:
  session-persistence verify --all
  session-persistence verify 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --expect 41:0f3a9c27`,
    )
  return command.action(async (given: readonly string[], options: VerifyCommandOptions) => {
    if ((given.length === 0) === (options.all === undefined)) command.error('error: give session ids, or --all')
    if (options.expect !== undefined && given.length !== 1)
      command.error('error: --expect goes with exactly one session id')
    await using persistence = await openStore(options)
    const { signal } = runtime
    const expectation = options.expect === undefined ? {} : { expectHead: options.expect }
    for await (const id of given.length === 0 ? everySessionId(persistence, signal) : given) {
      try {
        const found = given.length === 0 ? id : await findSession(persistence, id, signal)
        const report = await verifyOne(runtime, persistence, found, expectation)
        // That a session could not be looked at outweighs what was found in another one.
        if (!report.ok && runtime.exitCode === EXIT.ok) runtime.exitCode = EXIT.negative
        await print(runtime, report, options.json === true)
      } catch (error) {
        await rememberFailure(runtime, error)
      }
    }
  })
}

async function verifyOne(
  { err, signal }: Runtime,
  persistence: SessionPersistence,
  id: string,
  expectation: { readonly expectHead?: HeadReceipt },
): Promise<VerifyReport> {
  using progress = new Progress(err)
  progress.show(() => `checking ${safeLine(id)} …`)
  return await persistence.verify(id, { ...expectation, signal })
}

async function print({ out }: Runtime, report: VerifyReport, json: boolean): Promise<void> {
  if (json) return await out.write(`${safeJson(report)}\n`)
  const { id, ok, events, bytes, head, torn, problems, notes, unknownTypes } = report
  const { good, bad } = out.style
  const counts = `${plural(events, 'event')}, ${byteSize(bytes)}`
  // A log that could not be folded has no head to show: that of an empty log would say that it is empty.
  const facts = events > 0 && head.seq < 0 ? counts : `${counts}, head ${head.seq}:${head.crc}`
  await out.lines([
    `${ok ? good('ok ') : bad('bad')}  ${safeLine(id)}  ${facts}`,
    ...(torn === undefined
      ? []
      : [
          `     torn tail: ${plural(torn.bytes, 'byte')} from offset ${torn.offset} that hold no whole batch; a receipt (--expect) tells for certain whether events are missing`,
        ]),
    ...problems.map(({ code, message }) => `     ${bad(code)} ${safeLine(message)}`),
    ...notes.map((note) => `     note: ${safeLine(note)}`),
    ...(unknownTypes.length === 0 ? [] : [`     unknown event types: ${unknownTypes.map(safeLine).join(', ')}`]),
  ])
}
