/** The session header: facts fixed at creation. It is not an event and has no seq. */
export interface SessionHeader {
  /** Format version of the stored log (see format-version). */
  readonly version: number
  readonly id: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Name of the message format that `message` fields are in. */
  readonly messageFormat: string
  readonly cwd?: string
  /** Id of the session that this one was forked from or started by. */
  readonly parent?: string
  /** Number of leading events shared with the parent. Absent means none. */
  readonly seedLength?: number
  /** What made this session: `fork`, `sub-agent`, `import:claude-code`, a harness name. */
  readonly origin?: string
  readonly labels?: { readonly [name: string]: string }
}
