import { isSessionError, type SessionError } from '@session-persistence/core'
import { CommanderError } from 'commander'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { Interrupted } from './runtime.ts'
import { systemFailure } from './system-error.ts'
import { OutputGone } from './terminal/output.ts'
import { safeLine } from './terminal/safe-text.ts'

/** What a failure means to the person at the terminal: at most one line, and an exit code. */
export interface Failure {
  readonly line?: string
  readonly exitCode: ExitCode
}

const lineOf = (code: string, sentence: string): string => `session-persistence: ${code}: ${safeLine(sentence)}`

/** Never shows a stack, and never payload: messages of {@link SessionError} hold none. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof OutputGone) return { exitCode: EXIT.ok }
  if (error instanceof Interrupted) return { exitCode: error.exitCode }
  if (error instanceof CommanderError) return describeUsage(error)
  const typed = isSessionError(error) ? error : systemFailure(error)
  if (typed !== undefined) {
    const line = isMangledName(typed)
      ? lineOf('INVALID_ARGUMENT', mangled(typed))
      : lineOf(typed.code, sentenceOf(typed))
    return { line, exitCode: EXIT.failed }
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return { line: lineOf('UNEXPECTED', `${message} (please report this)`), exitCode: EXIT.unexpected }
}

function describeUsage(error: CommanderError): Failure {
  // `--help` and `--version` also leave through an exception.
  if (error.exitCode === 0) return { exitCode: EXIT.ok }
  if (error.code === 'commander.help') return { exitCode: EXIT.usage }
  return { line: lineOf('INVALID_ARGUMENT', error.message.replace(/^error: /, '')), exitCode: EXIT.usage }
}

/** Arguments arrive decoded as UTF-8: a file whose name is none cannot be reached by it, and is not missing either. */
function isMangledName({ code, path, sessionId }: SessionError): boolean {
  return code === 'NOT_FOUND' && sessionId === undefined && path?.includes('\ufffd') === true
}

function mangled({ path }: SessionError): string {
  return `there is no such file, or its name is not UTF-8 and cannot be given as an argument: rename it first (path ${path})`
}

/** The message, with the facts that it does not tell already. */
function sentenceOf(error: SessionError): string {
  const facts = [
    ['session', error.sessionId],
    ['path', error.path],
    ['offset', error.offset],
    ['seq', error.seq],
    ['expected', error.expected],
    ['found', error.found],
  ] as const
  const untold = facts.filter(([, fact]) => fact !== undefined && !error.message.includes(String(fact)))
  if (untold.length === 0) return error.message
  return `${error.message} (${untold.map(([name, fact]) => `${name} ${fact}`).join(', ')})`
}
