/**
 * The one judge of what may come next in a log, which append and resume share: what the one refuses the other would
 * refuse too. The rules are in grammar-rules.
 */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from './event.ts'
import type { GrammarRule, GrammarState } from './grammar-rule.ts'
import { GRAMMAR_RULES } from './grammar-rules.ts'
import type { Fields } from './json-shape.ts'
import { isRecord } from './json-shape.ts'
import { coreEventTypes } from './vocabulary-table.ts'

const RULES_FOR_UNKNOWN: readonly GrammarRule[] = GRAMMAR_RULES.filter((rule) => rule.types === 'any')
const RULES_BY_TYPE: ReadonlyMap<string, readonly GrammarRule[]> = new Map(
  coreEventTypes.map((type) => [
    type,
    GRAMMAR_RULES.filter((rule) => rule.types === 'any' || rule.types.includes(type)),
  ]),
)
const NO_FIELDS: Fields = {}

/**
 * Judges whether `event` may come next (clause family APPEND). Changes nothing.
 * @throws SessionError INVALID_EVENT with the seq; the message names the rule and carries no payload.
 */
export function checkGrammar(state: GrammarState, event: AnySessionEvent): void {
  const rules = RULES_BY_TYPE.get(event.type) ?? RULES_FOR_UNKNOWN
  const data = isRecord(event.data) ? event.data : NO_FIELDS
  for (const rule of rules) if (rule.breaks(state, event, data)) throw violation(rule, state, event)
}

/** Judges a run of chunks of which only the place is known. */
export function checkChunkPlace(
  { turns }: GrammarState,
  chunks: { readonly seq: number; readonly turn: number; readonly step: number },
): void {
  if (turns.openStep !== undefined && chunks.turn === turns.openTurn && chunks.step === turns.openStep) return
  throw new SessionError('INVALID_EVENT', `chunks outside their step at seq ${chunks.seq} (rule outside-step)`, {
    seq: chunks.seq,
  })
}

function violation(rule: GrammarRule, { turns }: GrammarState, event: AnySessionEvent): SessionError {
  const type = RULES_BY_TYPE.has(event.type) ? event.type : 'event of an unknown type'
  const place =
    turns.openTurn === undefined
      ? `no turn is open after ${turns.turns}`
      : turns.openStep === undefined
        ? `turn ${turns.openTurn} is open after step ${turns.steps}`
        : `turn ${turns.openTurn}, step ${turns.openStep} is open`
  const message = `${type} at seq ${event.seq} is refused: ${rule.refuses} (rule ${rule.id}; ${place}, ${turns.calls.openCount} calls open)`
  return new SessionError('INVALID_EVENT', message, { seq: event.seq })
}
