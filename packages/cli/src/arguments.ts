import type { HeadReceipt } from '@session-persistence/core'
import { InvalidArgumentError } from 'commander'

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER
        ? `Give a whole number, ${least} or more.`
        : `Give a whole number from ${least} to ${most}.`,
    )
  }
}

/** `SEQ:CRC`, as printed by `verify` and `resume`. */
export function headReceipt(text: string): HeadReceipt {
  const [, seq, crc] = /^(-1|\d{1,16}):([0-9a-f]{8})$/i.exec(text) ?? []
  if (seq === undefined || crc === undefined) {
    throw new InvalidArgumentError('Give SEQ:CRC, for example 41:0f3a9c27.')
  }
  return { seq: Number(seq), crc: crc.toLowerCase() }
}

/** Gathers repeated `NAME=VALUE`. */
export function label(
  text: string,
  before: { readonly [name: string]: string } = {},
): { readonly [name: string]: string } {
  const equals = text.indexOf('=')
  if (equals <= 0) throw new InvalidArgumentError('Give NAME=VALUE.')
  // Not a spread: a label may be named __proto__.
  return Object.fromEntries([...Object.entries(before), [text.slice(0, equals), text.slice(equals + 1)]])
}

/** A point in time: `2026-01-31`, `2026-01-31T12:00Z`, or a span back from now such as `90m`, `12h`, `7d`. */
export function pointInTime(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 }
  if (amount !== undefined && (unit === 'm' || unit === 'h' || unit === 'd'))
    return Date.now() - Number(amount) * unitMs[unit]
  const parsed = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(parsed))
    throw new InvalidArgumentError('Give a date such as 2026-01-31, or a span such as 12h or 7d.')
  return parsed
}
