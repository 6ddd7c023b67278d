/**
 * How names that were stored or given reach a message: an error is read on a terminal and kept in logs, so it shows
 * nothing but short, printable names (contract family ERR).
 */

/** Longest part of a name that is shown. */
const SHOWN_MAX = 64

/** Longest type name, in characters: every event carries one. */
export const TYPE_LENGTH_MAX = 128

/** Types that one message names; the others are counted. */
const TYPES_SHOWN_MAX = 5

/** `namespace/name`: letters, digits, `.`, `_`, `-`; a namespace may start with `@`. */
const EXTENSION_TYPE = /^@?[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/

export function isExtensionType(type: string): boolean {
  return type.length <= TYPE_LENGTH_MAX && EXTENSION_TYPE.test(type)
}

/** The name in quotes, cut and without characters that a terminal would obey. */
export function shownName(name: string): string {
  const short = name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name
  return JSON.stringify(short).replace(/[\p{C}\u2028\u2029]/gu, escaped)
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

/** A type is a name, but one that was not checked may be any text: then it is not shown. */
export function shownType(type: string): string {
  return isExtensionType(type) ? `"${type}"` : '(not of the form namespace/name)'
}

/** The first few types, and how many more there are. */
export function shownTypes(types: readonly string[]): string {
  const some = types.slice(0, TYPES_SHOWN_MAX).map(shownType).join(', ')
  return types.length > TYPES_SHOWN_MAX ? `${some} and ${types.length - TYPES_SHOWN_MAX} more` : some
}
