import type { AnySessionEvent, checkGrammar, ToolCall } from '@session-persistence/core'
import type { AnswerInput, ResultInput } from './event-inputs.ts'
import { LiveMessages } from './live-messages.ts'

type GrammarState = Parameters<typeof checkGrammar>[0]

export interface CallPlace {
  readonly callId: string
  readonly name: string
  readonly arguments: unknown
  readonly begunAt?: number
  readonly answered?: true
}

/** Calls of the open step; outside a step, of the newest answer. */
class StepCalls {
  openCount = 0
  readonly #calls = new Map<string, CallPlace>()

  get(callId: string): CallPlace | undefined {
    return this.#calls.get(callId)
  }

  ask(call: CallPlace): void {
    this.#calls.set(call.callId, call)
    this.openCount++
  }

  begin(callId: string, seq: number): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) this.#calls.set(callId, { ...call, begunAt: seq })
  }

  answer(callId: string): void {
    const call = this.#calls.get(callId)
    if (call === undefined || call.answered) return
    this.#calls.set(callId, { ...call, arguments: null, answered: true })
    this.openCount--
  }

  open(): CallPlace[] {
    return this.openCount === 0 ? [] : [...this.#calls.values()].filter((call) => call.answered === undefined)
  }
}

/**
 * Where the log stands: what is open and which messages are live. What core's fold knows, without the messages, so that
 * reading a log costs no memory for them.
 */
export class Place implements GrammarState {
  readonly surface: LiveMessages = new LiveMessages()
  turn: number | undefined
  step: number | undefined
  turnCount = 0
  stepCount = 0
  /** Readers write no `request/sent`. */
  readonly attempt: number = 0
  compaction: object | undefined
  calls: StepCalls = new StepCalls()

  get turns(): GrammarState['turns'] {
    return {
      turns: this.turnCount,
      openTurn: this.turn,
      steps: this.stepCount,
      openStep: this.step,
      attempt: this.attempt,
      compaction: this.compaction,
      calls: this.calls,
    }
  }

  /** The open turn and step as events carry them. */
  get inTurn(): { readonly turn?: number; readonly step?: number } {
    return { ...(this.turn !== undefined && { turn: this.turn }), ...(this.step !== undefined && { step: this.step }) }
  }

  /** Follows an event that the grammar has accepted. */
  apply({ type, data, seq, surface }: AnySessionEvent): void {
    switch (type) {
      case 'turn/start':
        this.turn = ++this.turnCount
        this.stepCount = 0
        this.#leaveStep()
        break
      case 'turn/end':
        this.turn = undefined
        this.#leaveStep()
        break
      case 'step/start':
        this.#leaveStep()
        this.step = ++this.stepCount
        break
      case 'step/end':
        this.#leaveStep()
        break
      case 'compaction/start':
        this.compaction = {}
        break
      case 'compaction/end':
        this.compaction = undefined
        break
      case 'tool/call':
        this.calls.begin((data as ToolCall).callId, seq)
        break
      case 'user/message':
      case 'assistant/message':
      case 'tool/result':
        if (surface === undefined) this.#appended(type, data, seq)
        else this.surface.replace(surface.replace, seq)
    }
  }

  #appended(type: string, data: unknown, seq: number): void {
    this.surface.append(seq)
    if (type === 'tool/result') this.calls.answer((data as ResultInput).callId)
    if (type !== 'assistant/message') return
    if (this.step === undefined) this.calls = new StepCalls()
    for (const call of (data as AnswerInput).toolCalls) this.calls.ask(call)
  }

  #leaveStep(): void {
    this.step = undefined
    this.calls = new StepCalls()
  }
}
