import {
  coreMessageFormats,
  type HeadReceipt,
  type ResumeOptions,
  type Session,
  SessionError,
} from '@session-persistence/core'
import { dsh } from '@session-persistence/interchange'
import { Command, Option } from 'commander'
import { headReceipt } from '../arguments.ts'
import { recoveryLines } from '../recovery-lines.ts'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { inputLines } from '../terminal/input-lines.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'

interface ResumeCommandOptions extends StoreOptions {
  readonly openTurn: 'close' | 'keep'
  readonly expect?: HeadReceipt
  readonly preserveUnknown?: true
  readonly writer: string
  readonly json?: true
}

export function resumeCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('resume').description(
      'take the writer lock, recover, and append lines of standard input as user messages',
    ),
  )
    .addArgument(sessionArgument())
    .addOption(
      new Option('--open-turn <what>', 'what to do with an open turn').choices(['close', 'keep']).default('close'),
    )
    .option('--expect <seq:crc>', 'refuse a log that does not hold this receipt', headReceipt)
    .option('--preserve-unknown', 'continue a log with event types that this program does not know')
    .option('--writer <name>', 'named in the log as the new writer', 'session-persistence resume')
    .option('--json', 'JSON lines: { id, nextSeq, recovery }, then { seq, crc } for each line appended')
    .addHelpText(
      'after',
      `
Holds the lock until the end of the input (Ctrl-D) or Ctrl-C. Every line is acknowledged once it is durable.
Empty lines are skipped. A second resume meanwhile is refused (LOCKED) and names the holder.

Examples:
  session-persistence resume 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10
  echo "Go on, please." | session-persistence resume 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10`,
    )
    .action(async (given: string, options: ResumeCommandOptions) => {
      const { signal } = runtime
      await using persistence = await openStore(options)
      const id = await findSession(persistence, given, signal)
      await using session = await persistence.resume(id, resumeOptions(options, signal))
      await announce(runtime, session, options.json === true)
      await appendLines(runtime, session, options.json === true)
      await session.close()
      signal.throwIfAborted()
    })
}

function resumeOptions(options: ResumeCommandOptions, signal: AbortSignal): ResumeOptions {
  const { openTurn, writer, expect, preserveUnknown } = options
  return {
    openTurn,
    writer,
    signal,
    ...(expect === undefined ? {} : { expectHead: expect }),
    ...(preserveUnknown === undefined ? {} : { preserveUnknown }),
  }
}

async function announce({ out, err, input }: Runtime, session: Session, json: boolean): Promise<void> {
  const { recovery, id } = session
  if (json) await out.write(`${safeJson({ id, nextSeq: session.nextSeq, recovery })}\n`)
  else {
    const found = recovery === undefined ? [] : recoveryLines(recovery).map((line) => `  ${line}`)
    await out.lines([`resumed ${safeLine(id)}, next seq ${session.nextSeq}`, ...found])
  }
  if (input.isTTY) await err.write('Each line becomes a user message. Ctrl-D ends.\n')
}

async function appendLines({ out, input, signal }: Runtime, session: Session, json: boolean): Promise<void> {
  const { messageFormat } = session.header
  const stop = (): void => void input.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) return
    for await (const line of inputLines(input)) {
      if (line.trim() === '') continue
      session.append('user/message', {
        ...session.openTurn,
        message: userMessage(messageFormat, line),
        source: { kind: 'human' },
      })
      const { seq, crc } = await session.flush()
      await out.write(json ? `${safeJson({ seq, crc })}\n` : `durable ${seq}:${crc}\n`)
    }
  } catch (error) {
    // Destroying the input is how a signal ends the wait for it.
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** All core formats agree on what a plain user message looks like; of another one nothing is known. */
function userMessage(messageFormat: string, content: string): unknown {
  if (coreMessageFormats.some(({ name }) => name === messageFormat)) return { role: 'user', content }
  if (messageFormat === dsh.name) return { role: 'user', content: [{ type: 'text', text: content }] }
  throw new SessionError('NOT_SUPPORTED', `user messages of the format ${messageFormat} cannot be made here`)
}
