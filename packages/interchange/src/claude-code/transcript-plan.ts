import type { IndexEntry, TranscriptIndex } from './transcript-index.ts'
import { conversationsOf } from './transcript-tree.ts'

/** One session to be made of a transcript. */
export interface LogPlan {
  readonly kind: 'main' | 'sub-agent' | 'branch'
  /** What stands behind the source's session id: nothing for the main conversation. */
  readonly suffix: string
  /** Place of its parent among the plans; undefined when the parent is the source's session, which is not in the file. */
  readonly parent: number | undefined
  readonly sessionId: unknown
  readonly entries: readonly IndexEntry[]
  /** Of a branch: how many entries it shares with its parent. */
  readonly shared: number | undefined
}

/**
 * The sessions of a transcript, parents first: the main conversation, one for each sub-agent (sidechain), and one for
 * each branch that was left. Lines that belong to no conversation (titles, snapshots, damage) go to the first one.
 */
export function planLogs(index: TranscriptIndex): readonly LogPlan[] {
  const agents = new Map<string, IndexEntry[]>()
  const rest: IndexEntry[] = []
  const keyOf = sidechainKeys(index.entries)
  for (const entry of index.entries) {
    const key = keyOf.get(entry.position)
    if (key === undefined) rest.push(entry)
    else if (!agents.get(key)?.push(entry)) agents.set(key, [entry])
  }
  const plans: LogPlan[] = []
  const hasMain = rest.some(
    (entry) => entry.facts !== undefined && entry.facts.role !== 'other' && entry.facts.role !== 'title',
  )
  const orphans = hasMain || agents.size === 0 ? [] : rest
  if (hasMain || agents.size === 0) addPlans(plans, rest, 'main', '', undefined)
  let others: readonly IndexEntry[] = orphans
  for (const [key, entries] of agents) {
    const all = others.length === 0 ? entries : [...others, ...entries].sort((a, b) => a.position - b.position)
    others = []
    addPlans(plans, all, 'sub-agent', `-agent-${key}`, hasMain ? 0 : undefined)
  }
  return plans
}

function addPlans(
  plans: LogPlan[],
  entries: readonly IndexEntry[],
  kind: 'main' | 'sub-agent',
  suffix: string,
  parent: number | undefined,
): void {
  const { main, branches } = conversationsOf(entries)
  const base = plans.length
  const sessionId = sessionOf(main)
  plans.push({ kind, suffix, parent, sessionId, entries: main, shared: undefined })
  for (const branch of branches) {
    plans.push({
      kind: 'branch',
      suffix: `${suffix}-branch-${branch.uuid}`,
      parent: base + branch.parent,
      sessionId,
      entries: branch.entries,
      shared: branch.shared,
    })
  }
}

/** The newest session id: a resumed transcript begins with lines copied from the one before. */
function sessionOf(entries: readonly IndexEntry[]): unknown {
  return entries.findLast((entry) => typeof entry.facts?.sessionId === 'string')?.facts?.sessionId
}

/** For every sidechain line, its agent: the id that it names, or the id of its topmost line. */
function sidechainKeys(entries: readonly IndexEntry[]): ReadonlyMap<number, string> {
  const keys = new Map<number, string>()
  const byUuid = new Map<string, string>()
  for (const { position, line, facts } of entries) {
    if (facts === undefined || !facts.sidechain) continue
    const inherited = facts.parent === undefined ? undefined : byUuid.get(facts.parent)
    const key = facts.agentId ?? inherited ?? facts.uuid ?? `line-${line}`
    keys.set(position, key)
    if (facts.uuid !== undefined) byUuid.set(facts.uuid, key)
  }
  return keys
}
