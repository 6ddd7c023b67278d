/** The summary of a session as stored beside its log: disposable, stamped with the head that it describes. */
import { checkedText, openCheckedText } from '../event/checked-text.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { SessionHeader } from '../event/header.ts'
import type { LogFold } from '../projection/log-fold.ts'
import type { SessionState } from './session.ts'

export type SummaryFacts = ReturnType<SessionState['summary']>

const VERSION = 1

/** What is told of a session: the header's labels lie below those that its events set. */
export function summaryFacts(header: SessionHeader, fold: LogFold): SummaryFacts {
  const summary = fold.summary()
  return { ...summary, labels: { ...header.labels, ...summary.labels } }
}

export function summaryText(facts: SummaryFacts, head: HeadReceipt): string {
  return checkedText(JSON.stringify({ version: VERSION, head, ...facts }))
}

/** The head that a summary was made for, when the text is of this version and well-formed. */
export function summaryHead(text: string): HeadReceipt | undefined {
  return stamped(text)?.head
}

/** The facts, when the text is of this version, well-formed, and stamped with a head whose seq is `seq`. */
export function parseSummary(text: string, seq: number): { facts: SummaryFacts; head: HeadReceipt } | undefined {
  const document = stamped(text)
  if (document === undefined || document.head.seq !== seq) return undefined
  const { head } = document
  const { title, labels, turns, messages } = document.facts
  if (title !== undefined && typeof title !== 'string') return undefined
  if (typeof turns !== 'number' || typeof messages !== 'number' || !isLabels(labels)) return undefined
  return { facts: { ...(title === undefined ? {} : { title }), labels, turns, messages }, head }
}

function stamped(text: string): { readonly head: HeadReceipt; readonly facts: Record<string, unknown> } | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(openCheckedText(text) ?? '')
  } catch {
    // A disposable document: what cannot be read is as good as absent.
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { version, head, ...facts } = parsed as Record<string, unknown>
  return version === VERSION && isHead(head) ? { head, facts } : undefined
}

function isHead(value: unknown): value is HeadReceipt {
  if (typeof value !== 'object' || value === null) return false
  return 'seq' in value && Number.isSafeInteger(value.seq) && 'crc' in value && typeof value.crc === 'string'
}

function isLabels(value: unknown): value is { readonly [name: string]: string } {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).every((label) => typeof label === 'string')
}
