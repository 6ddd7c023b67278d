// Proves that the example loop tells its session everything: whole turns, failing tools, and a cancelled turn.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnySessionEvent, openMemory, type Session } from '@session-persistence/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Agent, type AgentParts, type Model } from '../src/tour/agent-loop.ts'
import { assistantMessage, toolMessage, userMessage } from '../src/tour/anthropic-messages.ts'
import { PROMPTS, scriptedModel } from '../src/tour/scripted-model.ts'
import { workspaceRoot } from '../src/tour/workspace.ts'
import { workspaceTools } from '../src/tour/workspace-tools.ts'

let reports: string
let session: Session
let events: AnySessionEvent[]

beforeEach(async () => {
  reports = await mkdtemp(join(tmpdir(), 'session-persistence-reports-'))
  const persistence = await openMemory()
  session = await persistence.create({ messageFormat: 'anthropic' })
  events = []
  session.subscribe((event) => events.push(event))
})
afterEach(async () => {
  await session.close()
  await rm(reports, { recursive: true })
})

const parts = (changed: Partial<AgentParts> = {}): AgentParts => ({
  session,
  model: scriptedModel,
  tools: workspaceTools(workspaceRoot(), reports),
  system: 'You answer.',
  userMessage,
  toolMessage,
  ...changed,
})
const types = (): string[] => events.map(({ type }) => type).filter((type) => type !== 'assistant/chunk')

describe('the example agent loop', () => {
  it('answers from real files and writes its report once', async () => {
    const agent = new Agent(parts())
    await agent.runTurn(PROMPTS.survey)
    const answer = await agent.runTurn(PROMPTS.carryOn)
    expect(answer).toMatch(/^Done: \d+ files, \d+ lines/)
    expect(session.openTurn).toBeUndefined()
    expect(session.openCalls()).toEqual([])
    expect(types().filter((type) => type === 'turn/start')).toHaveLength(2)
  })

  it('records a tool that fails and one that does not exist as failed results', async () => {
    const ask = { name: 'one', arguments: {} }
    let asked = false
    const model: Model = {
      ...scriptedModel,
      // biome-ignore lint/correctness/useYield: an answer may come in one piece
      async *stream() {
        const toolCalls = asked
          ? []
          : [
              { callId: 'a', ...ask },
              { callId: 'b', name: 'none', arguments: {} },
            ]
        asked = true
        return { message: assistantMessage('ok', toolCalls), text: 'ok', toolCalls, usage: {} }
      },
    }
    const one = { description: '', effect: 'read-only' as const, run: () => Promise.reject(new Error('no disk')) }
    await new Agent(parts({ model, tools: { one } })).runTurn('go')
    const results = events.filter(({ type }) => type === 'tool/result').map(({ data }) => data)
    expect(results).toMatchObject([
      { callId: 'b', error: {} },
      { callId: 'a', error: {} },
    ])
    expect(types().filter((type) => type === 'tool/call')).toHaveLength(1)
  })

  it('closes a cancelled turn, keeps what was said, and goes on with the next one', async () => {
    const stop = new AbortController()
    const model: Model = {
      ...scriptedModel,
      async *stream() {
        yield { kind: 'text', index: 0, text: 'Half an ' }
        stop.abort()
        yield { kind: 'text', index: 0, text: 'answer' }
        throw new Error('not reached')
      },
    }
    await expect(new Agent(parts({ model })).runTurn('go', stop.signal)).rejects.toThrow('abort')
    expect(session.openTurn).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'cancelled' } } })
    expect(session.messages()).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'text', text: 'Half an ' }] },
    ])
    expect(await new Agent(parts()).runTurn(PROMPTS.recall)).toContain('You asked first: “go”')
  })
})
