/** Damage is told only of a log that stood still while it was looked at: else a writer was cutting or settling it. */
import type { FileStat, OpenFile } from './file-system.ts'
import { attempt } from './io-error.ts'

/** Looks at a log that never stands still. Then what the last one found counts. */
const LOOKS_MAX = 10

/** One look, at one opening of the log. */
export interface Look<T> {
  /** What it comes to: a value, or an error to throw. */
  readonly outcome: { readonly value: T } | { readonly error: unknown }
  /** Whether it speaks of damage. */
  readonly isDamage: boolean
  /** The opening, still open, and the log as it was when it was opened. */
  readonly file: OpenFile
  readonly stat: FileStat
  readonly path: string
}

/** Looks until there is no damage, or the log did not change meanwhile. */
export async function lookAtStillLog<T>(look: () => Promise<Look<T>>): Promise<Look<T>> {
  for (let looks = 1; ; looks++) {
    const found = await look()
    if (!found.isDamage || looks === LOOKS_MAX) return found
    let isStill = false
    try {
      isStill = await stoodStill(found)
      if (isStill) return found
    } finally {
      if (!isStill) await found.file.close().catch(() => {})
    }
  }
}

async function stoodStill<T>({ file, stat, path }: Look<T>): Promise<boolean> {
  const { size, modifiedNs } = await attempt('look at the log', path, () => file.stat())
  return size === stat.size && modifiedNs === stat.modifiedNs
}
