/** Numbers for people, the same everywhere: no locale, so that output can be compared. */

export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `3 events`, `1 event`. */
export function plural(value: number, singular: string, many: string = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : many}`
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Decimal units, three significant digits. */
export function byteSize(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : significant(value)} ${units[unit]}`
}

/** Three significant digits, never in exponent form. */
export function significant(value: number): string {
  if (value >= 99.95) return count(value)
  return value.toFixed(value >= 9.995 ? 1 : 2)
}

export function milliseconds(value: number): string {
  return value >= 10_000 ? `${significant(value / 1000)} s` : `${significant(value)} ms`
}

/** Local time to the minute. */
export function localTime(unixMs: number): string {
  const time = new Date(unixMs)
  if (Number.isNaN(time.getTime())) return 'out of range'
  const two = (part: number): string => part.toString().padStart(2, '0')
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`
}
