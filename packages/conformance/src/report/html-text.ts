import type { CaseResult } from './conformance-report.ts'
import { markupText } from './markup-text.ts'

/** Sign and word of each status: the sign for a quick look, the word for everybody. */
export const STATUS_WORDS: { readonly [S in CaseResult['status']]: string } = {
  passed: '\u2713 passed',
  failed: '\u2717 FAILED',
  skipped: '\u2013 skipped',
  'known-failure': '! known failure',
  'not-applicable': '\u00b7 does not apply',
}

/** A sentence as HTML; what it has between back-quotes is code. */
export function proseText(text: string): string {
  return markupText(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** An address of a tracker becomes a link, and nothing else does: `javascript:` is text. */
export function linkedText(text: string): string {
  return /^https?:\/\/\S+$/.test(text) ? `<a href="${markupText(text)}">${markupText(text)}</a>` : proseText(text)
}
