import { coreMessageFormats, type MessageFormat } from '@session-persistence/core'
import { dsh } from '@session-persistence/interchange'

/** Formats that imported logs are in, beside those that core knows. */
export const importedFormats: readonly MessageFormat[] = [dsh]

const known: readonly MessageFormat[] = [...coreMessageFormats, ...importedFormats]

/** Undefined for a harness's own format: its messages are shown as they are. */
export function messageFormatNamed(name: string): MessageFormat | undefined {
  return known.find((format) => format.name === name)
}
