import { type LastRequest, type ModelContext, SessionError } from '@session-persistence/core'
import { Command } from 'commander'
import { messageFormatNamed } from '../message-formats.ts'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { safeJson, safeLine, safeText } from '../terminal/safe-text.ts'

interface ContextCommandOptions extends StoreOptions {
  readonly next?: true
  readonly json?: true
}

export function contextCommand(runtime: Runtime): Command {
  return addStoreOptions(new Command('context').description('print what the model saw at its last request'))
    .addArgument(sessionArgument())
    .option('--next', 'what it will see next instead')
    .option(
      '--json',
      'one JSON document: { seq?, attempt?, derived?, context: { model, config, system, tools, messages } }',
    )
    .addHelpText(
      'after',
      `
Without recorded requests (imported logs) it is the context just before the newest answer, and says so.

Examples:
  session-persistence context 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10
  session-persistence context 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --next --json | jq '.context.messages | length'`,
    )
    .action(async (given: string, options: ContextCommandOptions) => {
      const { signal, out } = runtime
      await using persistence = await openStore(options)
      const id = await findSession(persistence, given, signal)
      const view = await persistence.inspect(id, { signal })
      const seen = options.next ? { context: view.modelContext() } : view.lastRequest()
      if (seen === undefined) {
        throw new SessionError(
          'NOT_FOUND',
          'no request was ever made in this session; --next shows what the model will see',
          {
            sessionId: id,
          },
        )
      }
      if (options.json) return await out.write(`${safeJson(seen)}\n`)
      await out.lines([...titleLines(seen), ...contextLines(runtime, seen.context, view.header.messageFormat)])
    })
}

function titleLines(seen: LastRequest | { readonly context: ModelContext }): string[] {
  if (!('seq' in seen)) return ['What the model will see next', '']
  const where = seen.derived
    ? `before the answer of seq ${seen.seq} (derived: no request was recorded)`
    : `at its last request, seq ${seen.seq}`
  return [
    `What the model saw ${where}${seen.attempt !== undefined && seen.attempt > 1 ? `, attempt ${seen.attempt}` : ''}`,
    '',
  ]
}

function contextLines({ out: { style } }: Runtime, context: ModelContext, formatName: string): string[] {
  const { messages, ...environment } = context
  const format = messageFormatNamed(formatName)
  const facts = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`${style.dim(name.padEnd(8))}${typeof value === 'string' ? safeLine(value) : safeJson(value)}`],
  )
  const shown = messages.flatMap((message, index) => [
    '',
    style.dim(`message ${index + 1} of ${messages.length}, ${roleOf(message)}`),
    safeText(textOf(message, format?.text(message) ?? '')),
  ])
  return [...facts, ...shown]
}

function roleOf(message: unknown): string {
  return typeof message === 'object' && message !== null && 'role' in message
    ? safeLine(String(message.role))
    : 'no role'
}

/** The text where there is nothing else, otherwise the message as it is: this command hides nothing. */
function textOf(message: unknown, text: string): string {
  const content = typeof message === 'object' && message !== null && 'content' in message ? message.content : undefined
  return typeof content === 'string' && content === text ? text : safeJson(message, 2)
}
