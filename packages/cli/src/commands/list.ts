import type { ListFilter, SessionPersistence, SessionSummary } from '@session-persistence/core'
import { LIMITS } from '@session-persistence/core'
import { Command, Option } from 'commander'
import { label, pointInTime, wholeNumber } from '../arguments.ts'
import { firstPrompt } from '../first-prompt.ts'
import type { Runtime } from '../runtime.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { summaryJson } from '../summary-json.ts'
import { byteSize, count, localTime } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { type Cell, type Column, cutTo, tableLines } from '../terminal/table.ts'

interface ListCommandOptions extends StoreOptions {
  readonly limit: number
  readonly cursor?: string
  readonly all?: true
  readonly cwd?: string
  readonly parent?: string
  readonly origin?: string
  readonly label?: { readonly [name: string]: string }
  readonly updatedAfter?: number
  readonly state?: 'ready' | 'open' | 'damaged' | 'newer'
  readonly json?: true
}

export function listCommand(runtime: Runtime): Command {
  return addStoreOptions(new Command('list').description('list sessions, newest first'))
    .option('--limit <n>', 'sessions on a page', wholeNumber(1, LIMITS.pageSessions), 50)
    .option('--cursor <cursor>', 'continue where a page ended')
    .option('--all', 'every page')
    .option('--cwd <directory>', 'only those of this working directory')
    .option('--parent <id>', 'only children of this session')
    .option('--origin <origin>', 'only those made by this, for example fork or import:claude-code')
    .option('--label <name=value>', 'only those with this label; may be repeated', label)
    .option('--updated-after <time>', 'a date, or a span back from now such as 12h or 7d', pointInTime)
    .addOption(new Option('--state <state>', 'only those in this state').choices(['ready', 'open', 'damaged', 'newer']))
    .option('--json', 'one JSON document: { sessions, cursor? }')
    .addHelpText(
      'after',
      `
Listing reads the beginning and the end of every session: damage in between is not seen (state ready), and is found by
verify --all.

Examples:
  session-persistence list
  session-persistence list --root ~/.my-agent/sessions --updated-after 7d
  session-persistence list --all --json | jq -r '.sessions[] | select(.state == "damaged").id'`,
    )
    .action(async (options: ListCommandOptions) => {
      await using persistence = await openStore(options)
      await (options.json ? printJson(runtime, persistence, options) : printTable(runtime, persistence, options))
    })
}

function filterOf(options: ListCommandOptions): ListFilter {
  const { cwd, parent, origin, updatedAfter, state, label: labels } = options
  return Object.fromEntries(
    Object.entries({ cwd, parent, origin, updatedAfter, state, labels }).filter(([, value]) => value !== undefined),
  )
}

/** The pages asked for: one, or all from the cursor on. The cursor of the last one is yielded with it. */
async function* pagesOf(
  { signal }: Runtime,
  persistence: SessionPersistence,
  options: ListCommandOptions,
): AsyncGenerator<{ readonly sessions: readonly SessionSummary[]; readonly cursor?: string }> {
  const { limit, all } = options
  let cursor = options.cursor
  do {
    const from = cursor === undefined ? {} : { cursor }
    const page = await persistence.list({
      limit: all ? LIMITS.pageSessions : limit,
      ...from,
      filter: filterOf(options),
      signal,
    })
    yield page
    cursor = page.cursor
  } while (all && cursor !== undefined)
}

async function printJson(
  runtime: Runtime,
  persistence: SessionPersistence,
  options: ListCommandOptions,
): Promise<void> {
  const { out } = runtime
  let separator = '{"sessions":['
  let cursor: string | undefined
  for await (const page of pagesOf(runtime, persistence, options)) {
    for (const session of page.sessions) {
      await out.write(separator + safeJson(summaryJson(session)))
      separator = ','
    }
    cursor = page.cursor
  }
  if (separator.startsWith('{')) await out.write(separator)
  await out.write(`]${cursor === undefined ? '' : `,"cursor":${safeJson(cursor)}`}}\n`)
}

/** Narrower terminals get each title on a line of its own: a title cut to a word helps nobody. */
const oneLineWidthMin = 110

async function printTable(
  runtime: Runtime,
  persistence: SessionPersistence,
  options: ListCommandOptions,
): Promise<void> {
  const { out, err } = runtime
  const { width } = out
  let shown = 0
  for await (const { sessions, cursor } of pagesOf(runtime, persistence, options)) {
    const twoLines = width !== undefined && width < oneLineWidthMin
    const titles: Cell[] = []
    for (const session of sessions) titles.push(await titleCell(runtime, persistence, session))
    const [heading = '', ...lines] = tableLines(
      twoLines ? columns : [...columns, { title: 'TITLE', flexible: true }],
      sessions.map((session, index) => [...row(session), ...(twoLines ? [] : titles.slice(index, index + 1))]),
      { ...(width === undefined ? {} : { width }), titleStyle: out.style.dim },
    )
    if (shown === 0 && sessions.length > 0) await out.lines([heading]) // once, however many pages
    for (const [index, { text, style = out.style.dim }] of titles.entries()) {
      const below = twoLines && text !== '' ? [style(`  ${cutTo(text, width - 2)}`)] : []
      await out.lines([lines[index] ?? '', ...below])
    }
    shown += sessions.length
    if (cursor !== undefined && !options.all) await err.write(`There are more: --cursor ${safeLine(cursor)}\n`)
  }
  if (shown === 0) await err.write('No sessions.\n')
}

const columns: readonly Column[] = [
  { title: 'ID' },
  { title: 'UPDATED' },
  { title: 'TURNS', align: 'right' },
  { title: 'SIZE', align: 'right' },
]

function row({ id, updatedAt, turns, bytes }: SessionSummary): string[] {
  return [
    safeLine(id),
    updatedAt === undefined ? '–' : localTime(updatedAt),
    turns === undefined ? '–' : count(turns),
    byteSize(bytes),
  ]
}

/** What is special about the session, then its title; of an untitled one, what was first asked for, in quotes. */
async function titleCell(
  { out: { style }, signal }: Runtime,
  persistence: SessionPersistence,
  { id, title, state, owner, error }: SessionSummary,
): Promise<Cell> {
  const notes = {
    ready: '',
    open: `[open${owner === undefined ? '' : `: ${safeLine(owner)}`}] `,
    damaged: `[damaged: ${error?.code ?? 'CORRUPT'}] `,
    newer: '[stored by a newer version] ',
  }
  const readable = state === 'ready' || state === 'open'
  const prompt = title === undefined && readable ? await firstPrompt(persistence, id, signal) : ''
  const name = title ?? (prompt === '' ? '' : `“${prompt}”`)
  const text = (notes[state] + safeLine(name)).trimEnd()
  return readable ? { text } : { text, style: style.bad }
}
