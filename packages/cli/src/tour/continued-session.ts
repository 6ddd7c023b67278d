/** Process B of the tour: opens what the killed process left, carries on, forks, and proves both histories. */
import { isDeepStrictEqual } from 'node:util'
import type {
  AnySessionEvent,
  ModelContext,
  OpenCall,
  RecoveryReport,
  Session,
  SessionPersistence,
  SurfaceEntry,
  VerifyReport,
} from 'session-persistence'
import { Agent } from './agent-loop.ts'
import { tourParts } from './agent-process.ts'
import { fileHashes, unchanged } from './file-hashes.ts'
import type { InterruptedAgent } from './interrupted-agent.ts'
import { PROMPTS } from './scripted-model.ts'
import { workspaceRoot } from './workspace.ts'
import { workspaceTools } from './workspace-tools.ts'

/** Read-only findings, before anything is repaired. */
export interface Findings {
  readonly events: number
  readonly chunks: number
  readonly bytes: number
  readonly surface: readonly SurfaceEntry[]
  readonly openCalls: readonly OpenCall[]
  readonly lastRequest: { readonly seq: number; readonly context: ModelContext } | undefined
  /** The check of every record, with the last acknowledged receipt expected in the log. */
  readonly check: VerifyReport
}

export async function inspectRemains(
  persistence: SessionPersistence,
  { id, acknowledged }: InterruptedAgent,
): Promise<Findings> {
  const view = await persistence.inspect(id)
  let chunks = 0
  for await (const { type } of persistence.read(id)) chunks += Number(type === 'assistant/chunk')
  return {
    events: view.nextSeq,
    chunks,
    bytes: view.bytes,
    surface: view.surface(),
    openCalls: view.openCalls(),
    lastRequest: view.lastRequest(),
    check: await persistence.verify(id, { expectHead: acknowledged }),
  }
}

export interface Exchange {
  readonly prompt: string
  readonly answer: string
}

/** What B did to the session that it resumed. */
export interface Continuation {
  readonly recovery: RecoveryReport | undefined
  readonly carriedOn: Exchange
  /** Seqs of the events of the second turn. */
  readonly turn: { readonly from: number; readonly to: number }
}

/** Runs the second turn; the session stays open. */
export async function carryOn(session: Session, agent: Agent): Promise<Continuation> {
  const from = session.nextSeq
  const answer = await agent.runTurn(PROMPTS.carryOn)
  return {
    recovery: session.recovery,
    carriedOn: { prompt: PROMPTS.carryOn, answer },
    turn: { from, to: session.nextSeq - 1 },
  }
}

export function tourAgent(session: Session, reports: string): Agent {
  return new Agent({ ...tourParts, session, tools: workspaceTools(workspaceRoot(), reports) })
}

/** Two histories from one, and what was checked about them. */
export interface Branches {
  readonly parent: string
  readonly child: string
  /** Last seq that both share. */
  readonly at: number
  readonly parentExchange: Exchange
  readonly childExchange: Exchange
  readonly proofs: {
    readonly differentIds: boolean
    /** Events 0 to `at` are equal, value for value. */
    readonly equalPrefix: boolean
    /** SHA-256 of every file of the parent is the same before and after the fork. */
    readonly parentBytesUnchanged: boolean
    /** The same for the child's files, before and after the parent's next turn. */
    readonly childBytesUnchanged: boolean
    /** The logs differ after the fork. */
    readonly differentSuffix: boolean
  }
}

/** Forks at the newest stable position, then lets parent and child each go their own way. */
export async function branchOff(
  persistence: SessionPersistence,
  session: Session,
  agent: Agent,
  places: { readonly root: string; readonly reports: string },
): Promise<Branches> {
  await session.flush()
  const at = session.nextSeq - 1
  const parentBefore = await fileHashes(places.root)
  await using child = await persistence.fork(session.id, { at, reason: 'tour' })
  await child.flush()
  const parentBytesUnchanged = unchanged(parentBefore, await fileHashes(places.root))

  const childAnswer = await tourAgent(child, places.reports).runTurn(PROMPTS.branch)
  await child.close()
  const both = await fileHashes(places.root)
  const childBefore = new Map([...both].filter(([name]) => !parentBefore.has(name)))
  const parentAnswer = await agent.runTurn(PROMPTS.recall)
  const childBytesUnchanged = childBefore.size > 0 && unchanged(childBefore, await fileHashes(places.root))

  const [parentLog, childLog] = [await eventsOf(persistence, session.id), await eventsOf(persistence, child.id)]
  return {
    parent: session.id,
    child: child.id,
    at,
    parentExchange: { prompt: PROMPTS.recall, answer: parentAnswer },
    childExchange: { prompt: PROMPTS.branch, answer: childAnswer },
    proofs: {
      differentIds: child.id !== session.id,
      equalPrefix: isDeepStrictEqual(parentLog.slice(0, at + 1), childLog.slice(0, at + 1)),
      parentBytesUnchanged,
      childBytesUnchanged,
      differentSuffix: !isDeepStrictEqual(parentLog.slice(at + 1), childLog.slice(at + 1)),
    },
  }
}

async function eventsOf(persistence: SessionPersistence, id: string): Promise<AnySessionEvent[]> {
  const events: AnySessionEvent[] = []
  for await (const event of persistence.read(id)) events.push(event)
  return events
}
