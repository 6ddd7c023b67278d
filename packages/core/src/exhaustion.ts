const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

/** Whether a system's error code says that handles or memory ran out: that is not about the file that was asked for. */
export function isExhaustionCode(code: unknown): boolean {
  return CODES.has(code)
}
