import { readdirSync } from 'node:fs'

/** Multiplies how much of the corpus is looked at. */
export const scale: number = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)

/** About `number` logs at scale 1, spread evenly over a directory; all of them from a scale of 5 on. */
export function filesOf(directory: string, number: number): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  const every = scale >= 5 ? 1 : Math.max(1, Math.floor(names.length / (number * scale)))
  return names.filter((_, index) => index % every === 0)
}
