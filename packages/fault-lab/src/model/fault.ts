/** An error of the operating system that a call is made to report. */
export interface Fault {
  readonly code: string
  readonly errno?: number
  /** `before`: nothing happened. `after`: it happened, and the error came all the same. `half`: half the bytes were written. */
  readonly effect: 'before' | 'after' | 'half'
}

export const FAULTS: readonly Fault[] = [
  { code: 'EIO', errno: -5, effect: 'before' },
  { code: 'EIO', errno: -5, effect: 'after' },
  { code: 'ENOSPC', errno: -28, effect: 'before' },
  { code: 'ENOSPC', errno: -28, effect: 'half' },
  // libuv knows no name for EDQUOT.
  { code: 'Unknown system error -122', errno: -122, effect: 'before' },
  { code: 'EMFILE', errno: -24, effect: 'before' },
]

/** Without a stack, which costs more than everything else that a call of the model does, and is never printed. */
export function systemError({ code, errno }: { readonly code: string; readonly errno?: number }): Error {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const error = new Error(code)
  Error.stackTraceLimit = before
  return Object.assign(error, { code, ...(errno === undefined ? {} : { errno }) })
}
