/**
 * The events of an agent's turns, in the order in which a harness appends them and to the full grammar: what both
 * generated logs are made of. Shaped by recorded sessions: prompts of some hundred characters, one tool call in most
 * steps, results of one to six kilobytes.
 */
import type { AnySessionEvent } from 'session-persistence'
import { deltaText, prose } from './prose.ts'
import { seededRandom } from './seeded-random.ts'

/** How a generated log looks. */
export interface TurnShape {
  readonly seed: number
  /** Deltas of one answer: fewest and most. 0 and 0 for a log without chunks. */
  readonly deltas: readonly [fewest: number, most: number]
  /** Characters of a prompt, of an answer without deltas, and of a tool's result: fewest and most. */
  readonly prompt: readonly [number, number]
  readonly answer: readonly [number, number]
  readonly result: readonly [number, number]
  /** Characters of live messages past which the harness compacts: what a model's window holds. */
  readonly window: number
}

const START_TIME = 1_750_000_000_000
const STEPS_MAX = 6
const SUMMARY_LENGTH = 4000
/** Of 8,327 recorded deltas 52 % are reasoning and 32 % arguments of calls; the steps without a call lower the latter. */
const REASONING_SHARE = 0.5
const CALLING_SHARE = 0.42

class TurnMaker {
  readonly #shape: TurnShape
  readonly #random: () => number
  #seq = 0
  #time = START_TIME
  #calls = 0
  /** The live messages: seq of the first and the last one, and their characters. */
  #live: { readonly first: number; readonly last: number; readonly size: number } | undefined

  constructor(shape: TurnShape) {
    this.#shape = shape
    this.#random = seededRandom(shape.seed)
  }

  *header(): Generator<AnySessionEvent> {
    yield this.#event('request/header', {
      model: 'model-1',
      config: { temperature: 0.2, maxTokens: 8192 },
      system: prose(this.#random, 2000),
      tools: [{ name: 'read', description: prose(this.#random, 400), parameters: { type: 'object' } }],
    })
  }

  /** What a harness does when the window is nearly full: one message takes the place of all before it. */
  *compaction(): Generator<AnySessionEvent> {
    const live = this.#live
    if (live === undefined || live.size < this.#shape.window) return
    yield this.#event('compaction/start', { trigger: 'window' })
    const content = prose(this.#random, SUMMARY_LENGTH)
    const data = { message: { role: 'user', content }, source: { kind: 'compaction' } }
    const summary = { ...this.#event('user/message', data), surface: { replace: [live.first, live.last] } as const }
    this.#live = { first: summary.seq, last: summary.seq, size: content.length }
    yield summary
    yield this.#event('compaction/end', { outcome: 'completed' })
  }

  *turn(turn: number): Generator<AnySessionEvent> {
    const content = prose(this.#random, this.#between(this.#shape.prompt))
    yield this.#event('turn/start', { turn })
    yield this.#message('user/message', { turn, message: { role: 'user', content } }, content.length)
    const steps = 1 + Math.floor(this.#random() * STEPS_MAX)
    for (let step = 1; step <= steps; step++) yield* this.#step(turn, step, step < steps)
    yield this.#event('turn/end', { turn, reason: { kind: 'completed' } })
  }

  *#step(turn: number, step: number, calls: boolean): Generator<AnySessionEvent> {
    yield this.#event('step/start', { turn, step })
    yield this.#event('request/sent', { turn, step, attempt: 1 })
    const call = calls
      ? { callId: this.#callId(), name: 'read', arguments: { path: `src/${prose(this.#random, 20)}.ts` } }
      : undefined
    const content = yield* this.#answer(turn, step, call?.callId)
    const answer = {
      turn,
      step,
      message: { role: 'assistant', content },
      toolCalls: call === undefined ? [] : [call],
      provider: 'provider-1',
      model: 'model-1',
      usage: { inputTokens: 2000 + this.#calls * 10, outputTokens: content.length >> 2 },
    }
    yield this.#message('assistant/message', answer, content.length)
    if (call !== undefined) {
      yield this.#event('tool/call', { turn, step, ...call, effect: 'read-only' })
      this.#time += 40
      const result = prose(this.#random, this.#between(this.#shape.result))
      const message = { role: 'tool', callId: call.callId, content: result }
      yield this.#message('tool/result', { turn, step, callId: call.callId, message }, result.length)
    }
    yield this.#event('step/end', { turn, step })
  }

  /** Streams reasoning, then text, then the arguments of a call; returns the text. */
  *#answer(turn: number, step: number, callId: string | undefined): Generator<AnySessionEvent, string> {
    const deltas = this.#between(this.#shape.deltas)
    if (deltas === 0) return prose(this.#random, this.#between(this.#shape.answer))
    const reasoning = Math.floor(deltas * REASONING_SHARE)
    const calling = callId === undefined ? 0 : Math.floor(deltas * CALLING_SHARE)
    for (let at = 0; at < reasoning; at++) {
      yield this.#chunk({ turn, step, kind: 'reasoning', index: 0, text: deltaText(this.#random) })
    }
    let content = ''
    for (let at = reasoning; at < deltas - calling; at++) {
      const text = deltaText(this.#random)
      content += text
      yield this.#chunk({ turn, step, kind: 'text', index: 1, text })
    }
    for (let at = 0; at < calling; at++) {
      const data = { turn, step, kind: 'tool-arguments', index: 2, callId, name: 'read', text: deltaText(this.#random) }
      yield this.#chunk(data)
    }
    return content
  }

  /** As long as those of real providers: it stands in every delta of the call's arguments. */
  #callId(): string {
    const digits = Array.from({ length: 3 }, () =>
      Math.floor(this.#random() * 36 ** 8)
        .toString(36)
        .padStart(8, '0'),
    )
    return `call_${String(++this.#calls).padStart(5, '0')}_${digits.join('')}`
  }

  #chunk(data: object): AnySessionEvent {
    // Half of the recorded gaps are 0: deltas arrive in bursts, one network packet at a time.
    if (this.#random() < 0.5) this.#time += 10 + Math.floor(this.#random() * 40)
    return this.#event('assistant/chunk', data)
  }

  #message(type: string, data: object, length: number): AnySessionEvent {
    const event = this.#event(type, data)
    const { first = event.seq, size = 0 } = this.#live ?? {}
    this.#live = { first, last: event.seq, size: size + length }
    return event
  }

  #event(type: string, data: object): AnySessionEvent {
    return { seq: this.#seq++, time: this.#time, type, data }
  }

  #between([fewest, most]: readonly [number, number]): number {
    return fewest + Math.floor(this.#random() * (most - fewest + 1))
  }
}

/** Endless: turn after turn, contiguous from seq 0, legal wherever it is cut. */
export function* turns(shape: TurnShape): Generator<AnySessionEvent> {
  const maker = new TurnMaker(shape)
  yield* maker.header()
  for (let turn = 1; ; turn++) {
    yield* maker.turn(turn)
    yield* maker.compaction()
  }
}
