/** The groups of a report by what they are about, in the order in which people ask. */
import type { Row } from './row.ts'
import { groupsOf } from './row-groups.ts'

export interface Theme {
  readonly id: string
  readonly title: string
  readonly groups: readonly (readonly Row[])[]
}

/** By the first part of a row's id; what is in none of them are logs that were given. */
const THEMES: readonly { readonly id: string; readonly title: string; readonly of: readonly string[] }[] = [
  { id: 'writing', title: 'Writing', of: ['append', 'durability', 'pipelined', 'many-sessions', 'create'] },
  { id: 'streaming', title: 'A streaming turn', of: ['latency', 'event-loop'] },
  { id: 'reading', title: 'Reading and resuming', of: ['replay', 'resume', 'suffix', 'open-writer'] },
  { id: 'space', title: 'Bytes and memory', of: ['size', 'memory'] },
  { id: 'managing', title: 'Listing, forking, deleting', of: ['list', 'manage'] },
  { id: 'peers', title: 'Beside other stores', of: ['peers', 'ahead'] },
  { id: 'calls', title: 'Syncs and system calls, counted', of: ['syncs', 'calls'] },
]
const GIVEN = { id: 'given', title: 'Real logs' } as const

/** Themes that have rows. */
export function themesOf(rows: readonly Row[]): readonly Theme[] {
  const groups = groupsOf(rows)
  const first = (group: readonly Row[]): string => group[0]?.id.split('/')[0] ?? ''
  const known = new Set(THEMES.flatMap(({ of }) => of))
  const themes = THEMES.map(({ id, title, of }) => ({
    id,
    title,
    groups: groups.filter((group) => of.includes(first(group))),
  }))
  const given = { ...GIVEN, groups: groups.filter((group) => !known.has(first(group))) }
  return [...themes, given].filter((theme) => theme.groups.length > 0)
}
