/** Colours, for terminals only, and never as the only carrier of a meaning. */

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly accent: (text: string) => string
}

const plain = (text: string): string => text
const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`

const coloured: Style = { bold: sgr(1, 22), dim: sgr(2, 22), good: sgr(32, 39), bad: sgr(31, 39), accent: sgr(36, 39) }
const uncoloured: Style = { bold: plain, dim: plain, good: plain, bad: plain, accent: plain }

/** NO_COLOR (https://no-color.org) wins, then FORCE_COLOR, then whether the stream is a terminal that knows colours. */
export function styleFor(isTerminal: boolean, env: NodeJS.ProcessEnv): Style {
  if (env.NO_COLOR) return uncoloured
  if (env.FORCE_COLOR) return env.FORCE_COLOR === '0' ? uncoloured : coloured
  return isTerminal && env.TERM !== 'dumb' ? coloured : uncoloured
}
