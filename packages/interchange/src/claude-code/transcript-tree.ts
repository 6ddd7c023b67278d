import type { IndexEntry } from './transcript-index.ts'

/**
 * The tree of a transcript, cut into sessions. A line is a child of the newest user or answer line above it; progress and
 * system lines in between do not count. Parallel tool calls make the tree branch all the time, so a branch of the
 * conversation is only where prompts, or different answers, have the same parent. Everything else, also several roots
 * and parents that are not in the file, is one conversation in the order of the file.
 */

/** A branch that was left: the lines of the parent conversation before it, then its own. */
export interface Branch {
  /** Lines in order; the shared ones first. */
  readonly entries: readonly IndexEntry[]
  /** How many of them it shares with its parent. */
  readonly shared: number
  /** Place of its parent in the list of conversations. */
  readonly parent: number
  /** Id of its first own line. */
  readonly uuid: string
}

/** More branches than these are read as one conversation in file order: each repeats what it shares. */
const BRANCHES_MAX = 256

interface Choice {
  readonly first: IndexEntry
  /** Newest line below it. */
  last: number
}

/** The main conversation, the one that was continued last, and then the branches that were left. */
export function conversationsOf(entries: readonly IndexEntry[]): {
  readonly main: readonly IndexEntry[]
  readonly branches: readonly Branch[]
} {
  const tree = new Tree(entries)
  const left = tree.abandoned()
  if (left.size === 0 || left.size > BRANCHES_MAX) return { main: entries, branches: [] }
  /** For every line that stands below an abandoned choice, the innermost one. */
  const owner = new Map<number, IndexEntry>()
  for (const entry of entries) {
    const above = tree.parentOf(entry)
    const own = left.has(entry.position) ? entry : above === undefined ? undefined : owner.get(above.position)
    if (own !== undefined) owner.set(entry.position, own)
  }
  const main = entries.filter((entry) => !owner.has(entry.position))
  const conversations: { readonly first: IndexEntry | undefined; readonly entries: readonly IndexEntry[] }[] = [
    { first: undefined, entries: main },
  ]
  const branches: Branch[] = []
  for (const first of [...left.values()].map((choice) => choice.first).sort((a, b) => a.position - b.position)) {
    const above = tree.parentOf(first)
    const from = above === undefined ? undefined : owner.get(above.position)
    const parent = Math.max(
      0,
      conversations.findIndex((each) => each.first === from),
    )
    const cut = left.get(first.position)?.cut ?? first.position
    const shared = (conversations[parent]?.entries ?? []).filter((entry) => entry.position < cut)
    const own = entries.filter((entry) => owner.get(entry.position) === first)
    conversations.push({ first, entries: [...shared, ...own] })
    branches.push({
      entries: [...shared, ...own],
      shared: shared.length,
      parent,
      uuid: first.facts?.uuid ?? String(first.line),
    })
  }
  return { main, branches }
}

class Tree {
  readonly #entries: readonly IndexEntry[]
  readonly #byUuid = new Map<string, IndexEntry>()
  readonly #parents = new Map<number, IndexEntry | undefined>()

  constructor(entries: readonly IndexEntry[]) {
    this.#entries = entries
    for (const entry of entries) {
      const uuid = entry.facts?.uuid
      if (uuid !== undefined && !this.#byUuid.has(uuid)) this.#byUuid.set(uuid, entry)
    }
    for (const entry of entries) this.#parents.set(entry.position, this.#findParent(entry))
  }

  /** The user or answer line above this one. */
  parentOf(entry: IndexEntry): IndexEntry | undefined {
    return this.#parents.get(entry.position)
  }

  #findParent(entry: IndexEntry): IndexEntry | undefined {
    let parent = this.#above(entry)
    // Upwards in the file only, so that a hostile circle ends.
    while (parent !== undefined && !isMessage(parent)) {
      const known = this.#parents.get(parent.position)
      if (known !== undefined) return known
      const next = this.#above(parent)
      parent = next !== undefined && next.position < parent.position ? next : undefined
    }
    return parent
  }

  #above(entry: IndexEntry): IndexEntry | undefined {
    const uuid = entry.facts?.parent
    const parent = uuid === undefined ? undefined : this.#byUuid.get(uuid)
    return parent !== undefined && parent.position < entry.position ? parent : undefined
  }

  /** By position, the choices that were not continued last, each with the first line of any choice beside it. */
  abandoned(): ReadonlyMap<number, { readonly first: IndexEntry; readonly cut: number }> {
    const newest = this.#newestBelow()
    const left = new Map<number, { readonly first: IndexEntry; readonly cut: number }>()
    for (const choices of this.#choices(newest)) {
      const chosen = choices.reduce((best, each) => (each.last > best.last ? each : best))
      const cut = Math.min(...choices.map((choice) => choice.first.position))
      for (const choice of choices) if (choice !== chosen) left.set(choice.first.position, { first: choice.first, cut })
    }
    return left
  }

  /** Position of the newest line below each line, itself included. */
  #newestBelow(): number[] {
    const newest = this.#entries.map((entry) => entry.position)
    const base = this.#entries[0]?.position ?? 0
    const index = new Map(this.#entries.map((entry, at) => [entry.position, at]))
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      const entry = this.#entries[at]
      const parent = entry && this.#parents.get(entry.position)
      const above = parent && index.get(parent.position)
      if (above !== undefined) newest[above] = Math.max(newest[above] ?? base, newest[at] ?? base)
    }
    return newest
  }

  /** Where at least two prompts, or two different answers, have one parent. */
  *#choices(newest: readonly number[]): Generator<Choice[]> {
    const below = new Map<number, { readonly prompts: Choice[]; readonly answers: Map<string, Choice> }>()
    this.#entries.forEach((entry, at) => {
      const parent = this.#parents.get(entry.position)
      const { role, messageId } = entry.facts ?? {}
      if (parent === undefined || (role !== 'user' && role !== 'answer')) return
      if (role === 'answer' && (messageId === undefined || messageId === parent.facts?.messageId)) return
      const siblings = below.get(parent.position) ?? { prompts: [], answers: new Map<string, Choice>() }
      below.set(parent.position, siblings)
      const choice: Choice = { first: entry, last: newest[at] ?? entry.position }
      if (role === 'user') siblings.prompts.push(choice)
      else if (messageId !== undefined) {
        const known = siblings.answers.get(messageId)
        // Further lines of an answer may hang on the same parent: they are not another choice.
        if (known === undefined) siblings.answers.set(messageId, choice)
        else known.last = Math.max(known.last, choice.last)
      }
    })
    for (const { prompts, answers } of below.values()) {
      if (prompts.length > 1) yield prompts
      if (answers.size > 1) yield [...answers.values()]
    }
  }
}

function isMessage(entry: IndexEntry): boolean {
  const role = entry.facts?.role
  return role === 'user' || role === 'results' || role === 'answer'
}
