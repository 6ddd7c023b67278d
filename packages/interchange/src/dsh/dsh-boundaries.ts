import { isRecord } from '../source/record-fields.ts'
import type { DshContext, DshEntry } from './dsh-context.ts'
import { turnEndReason } from './dsh-turn-end.ts'

/** Turns, steps and the end of a fork's seed. Each returns false when the record is to be kept whole. */

export function turnStart(context: DshContext, entry: DshEntry): boolean {
  const { fields, when } = entry
  context.turn = fields.peek('turn')
  context.step = undefined
  fields.drop('turn', context.log.place.turnCount + 1)
  const trigger = fields.take('trigger')
  return context.added(
    entry,
    context.log.startTurn(when, { ...(trigger !== undefined && { trigger }), ...context.imported(entry) }),
  )
}

export function turnEnd(context: DshContext, entry: DshEntry): boolean {
  if (context.log.place.turn === undefined) return context.added(entry, undefined)
  const given = entry.fields.peek('reason')
  const reason = turnEndReason(entry.fields)
  context.dropPlace(entry)
  const plain = isRecord(given) && Object.keys(given).length === 1 && given.kind === reason.kind
  const seq = context.log.endTurn(
    reason,
    entry.when,
    context.imported(entry, plain || given === undefined ? {} : { reason: given }),
  )
  context.turn = undefined
  context.step = undefined
  return context.added(entry, seq)
}

export function stepStart(context: DshContext, entry: DshEntry): boolean {
  context.log.ensureTurn(entry.when)
  context.step = entry.fields.peek('step')
  entry.fields.drop('turn', context.turn)
  entry.fields.drop('step', context.log.place.stepCount + 1)
  return context.added(entry, context.log.startStep(entry.when, context.imported(entry)))
}

export function stepEnd(context: DshContext, entry: DshEntry): boolean {
  context.dropPlace(entry)
  const seq = context.log.endStep(entry.when, context.imported(entry))
  context.step = undefined
  return context.added(entry, seq)
}

export function endSeed(context: DshContext, entry: DshEntry): boolean {
  if (context.seedParent === undefined || context.forkedAt !== undefined) return false
  const at = context.log.nextSeq - 1
  const data = { parent: context.seedParent, at, reason: 'seed', ...context.imported(entry) }
  context.forkedAt = context.log.add('session/forked', data, entry.when)
  return context.added(entry, context.forkedAt)
}
