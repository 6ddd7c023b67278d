import type { ReadOptions, SessionPersistence } from '@session-persistence/core'
import { Command, Option } from 'commander'
import { wholeNumber } from '../arguments.ts'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { localTime } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { cutTo } from '../terminal/table.ts'
import { Transcript } from '../transcript.ts'

interface ShowCommandOptions extends StoreOptions {
  readonly events?: true
  readonly from?: number
  readonly to?: number
  readonly last?: number
  readonly json?: true
}

export function showCommand(runtime: Runtime): Command {
  return addStoreOptions(new Command('show').description('print a session: its transcript, or its events'))
    .addArgument(sessionArgument())
    .option('--events', 'every event on a line, stream chunks included')
    .option('--from <seq>', 'first event', wholeNumber(0))
    .option('--to <seq>', 'last event', wholeNumber(0))
    .addOption(new Option('--last <n>', 'only the last n events').argParser(wholeNumber(1)).conflicts(['from', 'to']))
    .option('--json', 'JSON lines: every event as it is stored')
    .addHelpText(
      'after',
      `
Reads only: a session that somebody is writing can be shown.

Examples:
  session-persistence show 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10
  session-persistence show 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --events --last 20
  session-persistence show 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --json | jq -c 'select(.type == "user/message").data'`,
    )
    .action(async (given: string, options: ShowCommandOptions) => {
      const { out, signal } = runtime
      await using persistence = await openStore(options)
      const id = await findSession(persistence, given, signal)
      const range = await rangeOf(persistence, id, options, signal)
      if (options.json) {
        for await (const event of persistence.read(id, range)) await out.write(`${safeJson(event)}\n`)
      } else if (options.events) await printEvents(runtime, persistence, id, range)
      else await printTranscript(runtime, persistence, id, range)
    })
}

async function rangeOf(
  persistence: SessionPersistence,
  id: string,
  { from, to, last }: ShowCommandOptions,
  signal: AbortSignal,
): Promise<ReadOptions> {
  if (last !== undefined) {
    // The newest event tells where the last n begin, at no cost that grows with the log.
    for await (const { seq } of persistence.read(id, { reverse: true, signal })) {
      return { from: Math.max(0, seq - last + 1), signal }
    }
  }
  return { signal, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
}

async function printEvents(
  { out }: Runtime,
  persistence: SessionPersistence,
  id: string,
  range: ReadOptions,
): Promise<void> {
  for await (const { seq, time, type, data } of persistence.read(id, range)) {
    const line = `${String(seq).padStart(6)}  ${localTime(time)}  ${safeLine(type).padEnd(17)}  ${safeJson(data)}`
    await out.write(`${out.width === undefined ? line : cutTo(line, out.width)}\n`)
  }
}

async function printTranscript(
  { out, signal }: Runtime,
  persistence: SessionPersistence,
  id: string,
  range: ReadOptions,
): Promise<void> {
  const { header } = await persistence.exportLog(id, { signal })
  const transcript = new Transcript(out, header)
  await out.lines(transcript.heading())
  for await (const event of persistence.read(id, range)) await out.lines(transcript.lines(event))
}
