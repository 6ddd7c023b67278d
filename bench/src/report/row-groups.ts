import type { Row } from './row.ts'

/** Rows of one id, in the order of their first appearance. */
export function groupsOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.id)
    if (group === undefined) groups.set(row.id, [row])
    else group.push(row)
  }
  return [...groups.values()]
}
