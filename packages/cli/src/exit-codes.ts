/** Exit codes, as documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** The command did its work and the answer is no: `verify` found problems, `repair` would change something. */
  negative: 1,
  usage: 2,
  /** A typed error, printed in one line with its code. */
  failed: 3,
  /** An error that no code stands for: a mistake in this program. */
  unexpected: 4,
  /** 128 and the signal's number, as shells count. */
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
