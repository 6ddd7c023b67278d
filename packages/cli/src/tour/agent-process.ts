/**
 * Process A of the tour: a harness that works until it is killed. It tells its parent, a line of JSON each, what is
 * durable and which tools are running; the tools that it is told to hold never return, so that the kill always lands
 * in the same place: after the call was recorded and before its result.
 */
import { writeSync } from 'node:fs'
import { openPersistence } from 'session-persistence'
import { Agent, type AgentParts, type Tool } from './agent-loop.ts'
import { toolMessage, userMessage } from './anthropic-messages.ts'
import { PROMPTS, scriptedModel } from './scripted-model.ts'
import { workspaceRoot } from './workspace.ts'
import { workspaceTools } from './workspace-tools.ts'

export interface AgentProcessOptions {
  readonly location: string
  readonly reports: string
  /** Names of tools whose calls never return. */
  readonly hold: readonly string[]
}

/** One line of the pipe to the parent. */
export type AgentProcessNews =
  | { readonly kind: 'started'; readonly id: string }
  /** A receipt, and how many tool results it covers. */
  | { readonly kind: 'durable'; readonly seq: number; readonly crc: string; readonly results: number }
  | { readonly kind: 'held'; readonly tool: string }

function tell(news: AgentProcessNews): void {
  writeSync(1, `${JSON.stringify(news)}\n`)
}

function heldTool(name: string, tool: Tool): Tool {
  const run = (): Promise<string> => {
    tell({ kind: 'held', tool: name })
    return new Promise(() => undefined)
  }
  return { ...tool, run }
}

export async function runAgentProcess({ location, reports, hold }: AgentProcessOptions): Promise<void> {
  const cwd = workspaceRoot()
  const tools = Object.entries(workspaceTools(cwd, reports)).map(
    ([name, tool]) => [name, hold.includes(name) ? heldTool(name, tool) : tool] as const,
  )
  // A promise that nobody resolves does not keep a process alive; an orphan must end all the same.
  const stayAlive = setTimeout(() => process.exit(1), 60_000)
  await using persistence = await openPersistence(location)
  await using session = await persistence.create({ cwd, messageFormat: 'anthropic', origin: 'tour' })
  const results: number[] = []
  session.subscribe(({ type, seq }) => type === 'tool/result' && results.push(seq))
  tell({ kind: 'started', id: session.id })
  const agent = new Agent({
    ...tourParts,
    session,
    tools: Object.fromEntries(tools),
    onDurable: ({ seq, crc }) =>
      tell({ kind: 'durable', seq, crc, results: results.filter((result) => result <= seq).length }),
  })
  await agent.runTurn(PROMPTS.survey)
  clearTimeout(stayAlive)
}

/** What process A and process B have in common. */
export const tourParts: Pick<AgentParts, 'model' | 'system' | 'userMessage' | 'toolMessage'> = {
  model: scriptedModel,
  system: 'You answer questions about a project from its files.',
  userMessage,
  toolMessage,
}
