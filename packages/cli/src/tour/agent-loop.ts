/**
 * A whole agent loop in about a hundred lines, written to be read: everything that a harness has to tell its session is
 * here, in order. The model, the tools and the message makers are the harness's own; only `session` is ours.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ChunkDelta, HeadReceipt, ModelContext, Session, ToolCall, ToolEffect, Usage } from 'session-persistence'

export interface Answer {
  /** In the provider's own form: persistence stores it and never looks inside. */
  readonly message: unknown
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly usage: Usage
}

export interface Model {
  readonly provider: string
  readonly name: string
  /** Yields the answer as it arrives and returns it whole. */
  stream(request: ModelContext): AsyncGenerator<ChunkDelta, Answer>
}

export interface Tool {
  readonly description: string
  /** What running it twice would do: this decides what may be done with a call that a crash left open. */
  readonly effect: ToolEffect
  run(input: Readonly<Record<string, unknown>>): Promise<string>
}

export interface AgentParts {
  readonly session: Session
  readonly model: Model
  readonly tools: { readonly [name: string]: Tool }
  readonly system: string
  userMessage(text: string): unknown
  toolMessage(callId: string, output: string, failed: boolean): unknown
  /** Hears every receipt. A harness that keeps the last one elsewhere can tell later whether anything vanished. */
  readonly onDurable?: (receipt: HeadReceipt) => void
}

export class Agent {
  readonly #parts: AgentParts
  readonly #told: (receipt: HeadReceipt) => void
  readonly #environment: Omit<ModelContext, 'messages'> & { readonly model: string }
  /**
   * The harness's own list, kept beside the log and not derived from it. That is what makes `checkpoint` a check: it
   * compares what is about to be sent with what the log says.
   */
  #messages: unknown[]

  constructor(parts: AgentParts) {
    this.#parts = parts
    this.#told = parts.onDurable ?? (() => undefined)
    const tools = Object.entries(parts.tools).map(([name, { description }]) => ({ name, description }))
    this.#environment = { model: parts.model.name, config: { max_tokens: 1024 }, system: parts.system, tools }
    this.#messages = [...parts.session.messages()]
    const { messages: _, ...recorded } = parts.session.modelContext()
    // The request environment is stored once, and again only when it changes.
    if (!isDeepStrictEqual(recorded, this.#environment)) parts.session.append('request/header', this.#environment)
  }

  /** Runs one turn to its end. Whatever ends it early, the log is closed properly before this throws. */
  async runTurn(prompt: string, signal?: AbortSignal): Promise<string> {
    const { session } = this.#parts
    const turn = session.summary().turns + 1
    session.append('turn/start', { turn })
    const message = this.#parts.userMessage(prompt)
    session.append('user/message', { turn, message, source: { kind: 'human' } })
    this.#messages.push(message)
    try {
      for (let step = 1; ; step += 1) {
        signal?.throwIfAborted()
        const answer = await this.#runStep(turn, step, signal)
        if (answer.toolCalls.length > 0) continue
        this.#told(await session.closeTurn({ reason: { kind: 'completed' } }))
        return answer.text
      }
    } catch (error) {
      const cancelled = signal?.aborted === true
      const reason = cancelled ? { kind: 'cancelled' as const } : { kind: 'failed' as const, error: { code: 'AGENT' } }
      this.#told(await session.closeTurn({ reason }))
      // Closing may have kept half an answer and answered open calls: the log knows, this list does not yet.
      this.#messages = [...session.messages()]
      throw error
    }
  }

  /** One answer of the model, and the tools that it asks for. */
  async #runStep(turn: number, step: number, signal: AbortSignal | undefined): Promise<Answer> {
    const { session, model } = this.#parts
    session.append('step/start', { turn, step })
    const request: ModelContext = { ...this.#environment, messages: [...this.#messages] }
    // Durable before the request leaves, and refused if it is not what the log derives.
    this.#told(await session.checkpoint(request))
    const answer = await this.#stream(turn, step, request, signal)
    session.append('assistant/message', {
      turn,
      step,
      message: answer.message,
      toolCalls: answer.toolCalls,
      provider: model.provider,
      model: model.name,
      usage: answer.usage,
    })
    this.#messages.push(answer.message)
    await Promise.all(answer.toolCalls.map((call) => this.#runTool(turn, step, call)))
    session.append('step/end', { turn, step })
    return answer
  }

  async #stream(turn: number, step: number, request: ModelContext, signal: AbortSignal | undefined): Promise<Answer> {
    const deltas = this.#parts.model.stream(request)
    for (;;) {
      const next = await deltas.next()
      if (next.done === true) return next.value
      signal?.throwIfAborted()
      this.#parts.session.append('assistant/chunk', { turn, step, ...next.value })
    }
  }

  async #runTool(turn: number, step: number, call: ToolCall): Promise<void> {
    const { session, tools, toolMessage } = this.#parts
    const tool = tools[call.name]
    if (tool !== undefined) {
      // Durable before the tool starts: after a crash, a call without this record has certainly not run.
      this.#told(await session.beginCall({ turn, step, ...call, effect: tool.effect, idempotencyKey: call.callId }))
    } // otherwise nothing was begun: a result without a `tool/call` says that the harness refused to run it
    const { output, failed } = await outcomeOf(tool, call)
    const message = toolMessage(call.callId, output, failed)
    session.append('tool/result', { turn, step, callId: call.callId, message, ...(failed ? { error: {} } : {}) })
    this.#messages.push(message)
    // Not needed for correctness. A result that took work to get is worth a sync, so that no crash asks for it again.
    this.#told(await session.flush())
  }
}

interface Outcome {
  readonly output: string
  readonly failed: boolean
}

async function outcomeOf(tool: Tool | undefined, call: ToolCall): Promise<Outcome> {
  if (tool === undefined) return { output: `there is no tool named ${call.name}`, failed: true }
  try {
    const input = typeof call.arguments === 'object' && call.arguments !== null ? call.arguments : {}
    return { output: await tool.run({ ...input }), failed: false }
  } catch (error) {
    return { output: error instanceof Error ? error.message : String(error), failed: true }
  }
}
