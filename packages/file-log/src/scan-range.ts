/** A walk forwards to a range: it starts somewhere before it, and damage that lies there is none of the range's. */
import type { ScanOptions } from './log-codec.ts'
import { nextUnit } from './next-unit.ts'
import { type ScanPage, type ScanSource, scanForward } from './scan-pages.ts'
import type { ScanStart } from './seek.ts'

/** As `scanForward`, but damage counts only where it may hide an event of the range. */
export async function* scanRange(
  source: ScanSource,
  start: ScanStart,
  options: ScanOptions,
): AsyncGenerator<ScanPage, void, undefined> {
  for (let next: ScanStart | undefined = start; next !== undefined; ) {
    const from: ScanStart = next
    next = undefined
    for await (const page of scanForward(source, from, options)) {
      next = await soundStart(source, page, options.from)
      // What stands before the damage stands before the range.
      if (next === undefined) yield page
    }
  }
}

/** Where a verified unit behind the damage of a page starts that is not behind `from`. */
async function soundStart(
  source: ScanSource,
  { damage, position, end }: ScanPage,
  from: number,
): Promise<ScanStart | undefined> {
  if (damage === undefined || position.nextSeq === undefined || position.nextSeq >= from) return undefined
  const unit = await nextUnit(source, end + 1)
  return unit !== undefined && unit.seq <= from ? unit : undefined
}
