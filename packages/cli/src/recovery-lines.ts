import { describeMissing, type OpenCall, type RecoveryReport } from '@session-persistence/core'
import { plural } from './terminal/quantity.ts'
import { safeLine } from './terminal/safe-text.ts'

/** What each tier allows, in words. */
const advice: { readonly [tier in OpenCall['tier']]: string } = {
  'not-started': 'never begun, safe to run',
  'safe-to-retry': 'begun, and declared safe to repeat',
  reconcile: 'begun, ask the other system for its outcome',
  'outcome-unknown': 'begun, or may have been: verify or ask before repeating it',
}

/** The recovery report for people. */
export function recoveryLines(report: RecoveryReport): string[] {
  const { survived, missing, torn, openTurn, openCalls, closed, upgraded } = report
  return [
    `${plural(survived, 'event')} survived`,
    ...(missing === undefined ? [] : [describeMissing(missing)]),
    ...(torn === undefined
      ? []
      : [
          `${plural(torn.bytes, 'torn byte')} cut at offset ${torn.offset}${torn.keptAt === undefined ? '' : `, kept at ${safeLine(torn.keptAt)}`}`,
        ]),
    ...(upgraded === undefined ? [] : [`upgraded from format ${upgraded.from} to ${upgraded.to}`]),
    ...(openTurn === undefined
      ? ['no turn was open']
      : [
          closed.length === 0
            ? `turn ${openTurn.turn} is still open`
            : `turn ${openTurn.turn} was open; ${plural(closed.length, 'event')} added to close it: ${closed.map(({ seq, type }) => `${seq} ${safeLine(type)}`).join(', ')}`,
        ]),
    ...openCalls.map(
      ({ callId, name, tier }) => `open call ${safeLine(callId)} ${safeLine(name)}: ${tier} (${advice[tier]})`,
    ),
  ]
}
