/** Numbers as people read them: three significant digits, with a unit. */
import type { Estimate } from '../statistics/estimate.ts'
import type { Failure } from './report.ts'
import type { Row, Unit } from './row.ts'

export function threeDigits(value: number): string {
  const size = Math.abs(value)
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  if (size >= 100) return value.toFixed(0)
  if (size >= 10) return value.toFixed(1)
  if (size >= 1) return value.toFixed(2)
  return size === 0 ? '0' : value.toPrecision(2).replace(/\.?0+$/, '')
}

const SHARES: readonly Unit[] = ['share', '× JSONL']

/** Ratios to something else than a lettered reference, as one says them. */
const RATIOS: { readonly [unit in Unit]?: string } = {
  '× one session': 'of one',
  '× append': 'appends',
  '× 1,000': '×',
  '× power': 'of power',
}

/** A value in the unit of its row. */
export function quantity(value: number, unit: Unit): string {
  if (SHARES.includes(unit)) return `${threeDigits(value * 100)} %`
  if (unit === 'bytes') return `${threeDigits(value / 1e6)} MB`
  if (unit === 'ms') return `${threeDigits(value)} ms`
  if (unit === 'syncs' || unit === 'calls') return threeDigits(value)
  return `${threeDigits(value)} ${RATIOS[unit] ?? unit.replace('× ', '')}`
}

/** The median with its interval, where there is one. */
export function interval({ median, low, high, samples }: Estimate, unit: Unit): string {
  const text = quantity(median, unit)
  if (samples === 1 || low === high) return text
  const bare = (value: number): string => quantity(value, unit).replace(/ .*$/, '')
  return `${text} (${bare(low)} to ${bare(high)})`
}

/** What the same number is in seconds or bytes. */
export function absolute(row: Row): string {
  if (row.absolute === undefined) return ''
  const { value, unit } = row.absolute
  // On average is said only where it differs from the rule.
  if (unit === 'on average' && value.median === row.measured.median) return ''
  return `${threeDigits(value.median)} ${unit}`
}

/** A verdict without words, and without colour. */
export function verdictMark({ verdict }: Pick<Row, 'verdict'>): string {
  return { reached: '✓', missed: '✗', unclear: '?', none: '' }[verdict.kind]
}

/** What failed, in one line that a terminal can show: messages of others may hold anything. */
export function failureWords({ scenario, backend, code, message }: Failure): string {
  const where = backend === undefined ? scenario : `${scenario}, ${backend}`
  const said = code === undefined || message.includes(code) ? message : `${code}: ${message}`
  return oneLine(`${where} failed: ${said}`)
}

/** Text of others for one line of a terminal, which acts on nothing in it. */
export function oneLine(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]+/gu, ' ')
}

const UNCLEAR = { close: 'too close to say', noisy: 'too noisy to say', few: 'too few samples to say' } as const

export function verdictWords({ verdict, goal }: Pick<Row, 'verdict' | 'goal'>): string {
  switch (verdict.kind) {
    case 'reached':
      return 'reached'
    case 'missed':
      return goal === 0 ? 'missed' : `missed by ${threeDigits(verdict.by * 100)} %`
    case 'unclear':
      return UNCLEAR[verdict.why]
    case 'none':
      return ''
  }
}
