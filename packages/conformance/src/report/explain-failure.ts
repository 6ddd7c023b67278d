import type { CaseResult } from './conformance-report.ts'

/** One failed case on a few lines: what broke, where, after which operations, why usually, and how to repeat it. */
export function explainFailure(result: CaseResult): readonly string[] {
  const { id, title, failure, knownFailure } = result
  const first = `${id}: ${result.message ?? 'failed'}`
  if (failure === undefined) {
    return knownFailure === undefined ? [first] : [first, `tracked      ${knownFailure}`]
  }
  return [
    first,
    `clause       ${title}`,
    ...block('difference', failure.window),
    ...block('history', failure.history),
    ...(failure.usualCause === '' ? [] : [`usual cause  ${failure.usualCause}`]),
    `repeat       ${failure.repeat}`,
  ]
}

function block(name: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(12)} ${line}`)
}
