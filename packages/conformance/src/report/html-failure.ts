import type { CaseResult } from './conformance-report.ts'
import { linkedText, proseText, STATUS_WORDS } from './html-text.ts'
import { markupText } from './markup-text.ts'

/** One failed case, open: what broke, where, after which operations, why usually, and how to repeat it. */
export function htmlFailure({ id, level, title, message, failure, knownFailure }: CaseResult): string {
  const facts: readonly (readonly [name: string, html: string])[] = [
    ['clause', proseText(title)],
    ...(knownFailure === undefined ? [] : [['tracked', linkedText(knownFailure)] as const]),
    ...(failure === undefined
      ? []
      : ([
          ['difference', lines(failure.window)],
          ['history', lines(failure.history)],
          ['usual cause', proseText(failure.usualCause)],
          ['repeat', lines([failure.repeat])],
        ] as const)),
  ]
  return [
    '<details open="">',
    `<summary><span class="failed">${STATUS_WORDS.failed}</span> ${level} ${id}: ${proseText(message ?? 'failed')}</summary>`,
    '<dl>',
    ...facts.filter(([, html]) => html !== '').map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`),
    '</dl>',
    '</details>',
  ].join('\n')
}

/** Each line by itself, so that one that is too long goes on further in. */
function lines(text: readonly string[]): string {
  if (text.length === 0) return ''
  return `<pre>${text.map((line) => `<span class="line ${kindOf(line)}">${markupText(line)}</span>`).join('\n')}</pre>`
}

function kindOf(line: string): string {
  return line.startsWith('- ') ? 'expected' : line.startsWith('+ ') ? 'found' : ''
}
