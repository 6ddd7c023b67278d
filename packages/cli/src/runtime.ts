import { EXIT, type ExitCode } from './exit-codes.ts'
import { Output } from './terminal/output.ts'

/** Why a command was told to stop: the first SIGINT, SIGTERM or SIGHUP. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode) {
    super('interrupted')
    this.exitCode = exitCode
  }
}

/** What commands get instead of the process: two outputs, the input, the environment, and when to stop. */
export class Runtime {
  readonly out: Output
  readonly err: Output
  readonly input: NodeJS.ReadStream
  readonly env: NodeJS.ProcessEnv
  /** Aborted by a signal, and when standard output cannot be written any more. Commands pass it on, and release what they hold. */
  readonly signal: AbortSignal
  exitCode: ExitCode = EXIT.ok

  constructor(host: NodeJS.Process) {
    const stop = new AbortController()
    this.signal = stop.signal
    this.env = host.env
    this.input = host.stdin
    this.out = new Output(host.stdout, host.env, (reason) => stop.abort(reason))
    this.err = new Output(host.stderr, host.env, () => undefined)
    const interrupt = (exitCode: ExitCode) => (): void => {
      // The second one does not wait: the lock dies with the process, and what was acknowledged is durable.
      if (stop.signal.aborted) host.exit(exitCode)
      stop.abort(new Interrupted(exitCode))
    }
    host.on('SIGINT', interrupt(EXIT.interrupted))
    host.on('SIGTERM', interrupt(EXIT.terminated))
    host.on('SIGHUP', interrupt(EXIT.terminated))
  }
}
