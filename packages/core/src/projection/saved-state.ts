/**
 * What `load` of a core projection does with a snapshot that is not of its form. A snapshot is disposable and the
 * error never leaves its reader, so it needs no code of the closed list.
 */
export function refuse(what: string): never {
  throw new TypeError(`the snapshot does not hold ${what} of the saved form`)
}
