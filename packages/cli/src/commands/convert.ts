import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describeMissing, SessionError, type SessionPersistence } from '@session-persistence/core'
import { Command } from 'commander'
import { type ConvertedSession, convertSessions } from 'session-persistence'
import { rememberFailure } from '../remember-failure.ts'
import type { Runtime } from '../runtime.ts'
import { findSession } from '../session-id.ts'
import { findStore, openStore } from '../store.ts'
import { errorJson } from '../summary-json.ts'
import { Progress } from '../terminal/progress.ts'
import { count, plural } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

interface ConvertCommandOptions {
  readonly id?: readonly string[]
  readonly trustPresent?: true
  readonly json?: true
}

export function convertCommand(runtime: Runtime): Command {
  return new Command('convert')
    .description('copy sessions from one store into another one, event for event, and prove that they arrived')
    .argument('<from>', 'location of the store to read, for example jsonl:./sessions')
    .argument('<to>', 'location of the store to write, made if it is not there, for example sqlite:./sessions.db')
    .option('--id <id>', 'only this session; may be repeated', (id: string, before: readonly string[] = []) => [
      ...before,
      id,
    ])
    .option('--trust-present', 'know sessions that are there already by header, length and last event, unread')
    .option('--json', 'JSON lines: one session each, { id, outcome, events, head, digest } or { id, outcome, error }')
    .addHelpText(
      'after',
      `
The source stays as it is. Every session arrives whole or not at all, is read back and compared by digest. Stopped or
killed, the same command goes on where it was. A session that cannot be copied (damaged, newer, being written, another
one under its id) is reported and does not keep the others; the exit code is 3 then.

Examples:
  session-persistence convert jsonl:./sessions jsonl-zstd:./small
  session-persistence convert jsonl-zstd:./sessions sqlite:./sessions.db --id 0197c3f2-8a4e`,
    )
    .action(async (from: string, to: string, options: ConvertCommandOptions) => {
      await using source = await openStore({ backend: from })
      await refuseSamePlace(from, to)
      await using target = await openStore({ backend: to }, { mayBeNew: true })
      await convert(runtime, source, target, options)
    })
}

/** Two backends in one directory would see each other's sessions as damaged ones. */
async function refuseSamePlace(from: string, to: string): Promise<void> {
  const [one, other] = [await findStore(from), await findStore(to, true)]
  if ((await real(one.place)) !== (await real(other.place))) return
  throw new SessionError('INVALID_ARGUMENT', 'source and target of a conversion are in the same place')
}

async function real(place: string): Promise<string> {
  return await realpath(place).catch(() => resolve(place))
}

async function convert(
  runtime: Runtime,
  source: SessionPersistence,
  target: SessionPersistence,
  { id: given, trustPresent, json }: ConvertCommandOptions,
): Promise<void> {
  const { out, err, signal } = runtime
  const ids = given && (await Promise.all(given.map((each) => findSession(source, each, signal))))
  using progress = new Progress(err)
  const tally = { converted: 0, present: 0, failed: 0 }
  const sessions = convertSessions(source, target, {
    signal,
    recognise: trustPresent ? 'head' : 'digest',
    ...(ids === undefined ? {} : { ids }),
    onProgress: (id, events) =>
      progress.show(
        () =>
          `${plural(tally.converted + tally.present, 'session')} done; ${safeLine(id)}, ${plural(events, 'event')} …`,
      ),
  })
  for await (const session of sessions) {
    tally[session.outcome] += 1
    if (json) await out.write(`${safeJson(jsonOf(session))}\n`)
    if (session.outcome === 'failed') await rememberFailure(runtime, session.error)
    else if (!json) await out.write(`${lineOf(session)}\n${missingLine(session)}`)
  }
  if (json) return
  const { converted, present, failed } = tally
  await out.write(`${count(converted)} converted, ${count(present)} there already, ${count(failed)} failed\n`)
}

function lineOf({ outcome, id, events, digest }: Exclude<ConvertedSession, { outcome: 'failed' }>): string {
  const proof = digest === undefined ? '' : `  sha256 ${digest.slice(0, 16)}…`
  return `${outcome.padEnd(9)}  ${safeLine(id)}  ${plural(events, 'event')}${proof}`
}

/** The copy knows it too: a resume of either says the same. */
function missingLine(session: Exclude<ConvertedSession, { outcome: 'failed' }>): string {
  if (session.outcome !== 'converted' || session.missing === undefined) return ''
  return `           ${describeMissing(session.missing)}\n`
}

function jsonOf(session: ConvertedSession): object {
  if (session.outcome !== 'failed') return session
  const { id, outcome, error } = session
  return { id, outcome, error: errorJson(error) }
}
