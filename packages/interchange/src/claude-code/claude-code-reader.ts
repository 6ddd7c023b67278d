import { isDeepStrictEqual } from 'node:util'
import { type AnySessionEvent, anthropic, FORMAT_VERSION, type SessionHeader } from '@session-persistence/core'
import { LogAssembler } from '../assembly/log-assembler.ts'
import { TimeSource } from '../assembly/time-source.ts'
import type { ImportedLog, LogReader, ReadLogsOptions } from '../reader.ts'
import { ReportBuilder } from '../report/report-builder.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import type { LogFile } from '../source/log-file.ts'
import { importedId, isPlaceholderId } from '../source/session-ids.ts'
import { detectTranscript } from './detect-transcript.ts'
import { indexTranscript, type TranscriptIndex } from './transcript-index.ts'
import { TranscriptMapper } from './transcript-mapper.ts'
import { type LogPlan, planLogs } from './transcript-plan.ts'
import { TranscriptSource } from './transcript-source.ts'

/**
 * Transcripts of Claude Code: a tree of lines by `uuid` and `parentUuid`. Two passes: the first keeps only the tree, the
 * second reads the lines again in the order of the sessions that it holds.
 */
export const claudeCodeReader: LogReader = {
  name: 'claude-code',

  detect: detectTranscript,

  async *read(file: LogFile, options: ReadLogsOptions = {}): AsyncGenerator<ImportedLog, void, undefined> {
    const { signal, hashedIds = false } = options
    const hash = await file.hash(signal)
    const index = await indexTranscript(file, options)
    const ids: string[] = []
    const plans = planLogs(index)
    const facts = await sessionFacts(file, plans)
    for (const [at, plan] of plans.entries()) {
      const base = importedId(plan.sessionId, 'claude-code', hash, hashedIds)
      const own = `${base}${plan.suffix}`
      // An agent's id may be anything, and a uuid may stand in the file twice.
      const id = isPlaceholderId(own) || ids.includes(own) ? `${base}-${plan.kind}-${at}` : own
      ids.push(id)
      const outside = isPlaceholderId(plan.sessionId) ? undefined : String(plan.sessionId)
      const parent = plan.parent === undefined ? (plan.kind === 'main' ? undefined : outside) : ids[plan.parent]
      const report = new ReportBuilder('claude-code')
      report.bytes = plan.entries.reduce(
        (bytes, entry) => bytes + (entry.nth === 0 ? entry.bytes + Number(entry.terminated) : 0),
        0,
      )
      const branchOf = plan.kind === 'branch' && plan.parent !== undefined ? plans[plan.parent] : undefined
      const seedLength = branchOf && (await sharedEvents(new Pass(file, index, branchOf), new Pass(file, index, plan)))
      const forkedFrom = seedLength === undefined ? undefined : parent
      for await (const _page of new Pass(file, index, plan, forkedFrom).pages(report)) signal?.throwIfAborted()
      const header = headerOf(id, plan, index, parent, seedLength, facts[at])
      const events = {
        async *[Symbol.asyncIterator](): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
          for await (const page of new Pass(file, index, plan, forkedFrom).pages()) {
            signal?.throwIfAborted()
            yield page
          }
        },
      }
      yield { header, events, report: report.build() }
    }
  },
}

function headerOf(
  id: string,
  plan: LogPlan,
  { firstTime }: TranscriptIndex,
  parent: string | undefined,
  seedLength: number | undefined,
  facts: SourceRecord | undefined,
): SessionHeader {
  const { cwd, version, agentId } = facts ?? {}
  const createdAt = plan.entries.find((entry) => entry.facts?.time !== undefined)?.facts?.time ?? firstTime ?? 0
  const sourceId = typeof plan.sessionId === 'string' && plan.sessionId.length <= 256 ? plan.sessionId : undefined
  return {
    version: FORMAT_VERSION,
    id,
    createdAt,
    messageFormat: 'anthropic',
    ...(isShort(cwd) && { cwd }),
    ...(parent !== undefined && { parent }),
    ...(seedLength !== undefined && { seedLength }),
    origin: plan.kind === 'main' ? 'import:claude-code' : plan.kind === 'branch' ? 'fork' : 'sub-agent',
    labels: {
      'imported-from': 'claude-code',
      ...(isShort(version) && { 'claude-code.version': version }),
      ...(sourceId !== undefined &&
        sourceId !== id &&
        !/\p{Surrogate}/u.test(sourceId) && { 'claude-code.sessionId': sourceId }),
      ...(isShort(agentId) && { 'claude-code.agentId': agentId }),
    },
  }
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 4096 && !/\p{Surrogate}/u.test(value)
}

/** The first conversation record of each plan: its directory and version describe the session. */
async function sessionFacts(file: LogFile, plans: readonly LogPlan[]): Promise<readonly (SourceRecord | undefined)[]> {
  await using pass = await file.open()
  const source = new TranscriptSource(pass, file)
  const facts: (SourceRecord | undefined)[] = []
  for (const { entries } of plans) {
    const first = entries.find(
      ({ facts: found }) => found !== undefined && found.role !== 'other' && found.role !== 'title',
    )
    facts.push(first && (await source.load(first)).record)
  }
  return facts
}

/** How many events a branch shares with its parent; undefined when they differ before it begins. */
async function sharedEvents(parent: Pass, branch: Pass): Promise<number | undefined> {
  const theirs = eventsOf(parent.pages())
  try {
    for await (const event of eventsOf(branch.pages())) {
      const { forkedAt } = branch
      if (forkedAt !== undefined && event.seq >= forkedAt) return forkedAt
      const { value } = await theirs.next()
      if (!isDeepStrictEqual(event, value)) return undefined
    }
    return branch.forkedAt
  } finally {
    await theirs.return()
  }
}

async function* eventsOf(
  pages: AsyncIterable<readonly AnySessionEvent[]>,
): AsyncGenerator<AnySessionEvent, void, undefined> {
  for await (const page of pages) yield* page
}

/** One reading of one session. */
class Pass {
  readonly #file: LogFile
  readonly #index: TranscriptIndex
  readonly #plan: LogPlan
  readonly #forkedFrom: string | undefined
  #mapper: TranscriptMapper | undefined

  constructor(file: LogFile, index: TranscriptIndex, plan: LogPlan, forkedFrom?: string) {
    this.#file = file
    this.#index = index
    this.#plan = plan
    this.#forkedFrom = forkedFrom
  }

  get forkedAt(): number | undefined {
    return this.#mapper?.forkedAt
  }

  async *pages(
    report: ReportBuilder = new ReportBuilder('claude-code'),
  ): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    await using pass = await this.#file.open()
    const log = new LogAssembler(anthropic, report)
    const times = new TimeSource(this.#index.firstTime ?? 0)
    this.#mapper = new TranscriptMapper(
      log,
      times,
      new TranscriptSource(pass, this.#file),
      this.#plan,
      this.#forkedFrom,
    )
    yield* this.#mapper.pages()
  }
}
