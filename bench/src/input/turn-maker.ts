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
}

const START_TIME = 1_750_000_000_000
const STEPS_MAX = 6

class TurnMaker {
  readonly #shape: TurnShape
  readonly #random: () => number
  #seq = 0
  #time = START_TIME
  #calls = 0

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

  *turn(turn: number): Generator<AnySessionEvent> {
    const content = prose(this.#random, this.#between(this.#shape.prompt))
    yield this.#event('turn/start', { turn })
    yield this.#event('user/message', { turn, message: { role: 'user', content } })
    const steps = 1 + Math.floor(this.#random() * STEPS_MAX)
    for (let step = 1; step <= steps; step++) yield* this.#step(turn, step, step < steps)
    yield this.#event('turn/end', { turn, reason: { kind: 'completed' } })
  }

  *#step(turn: number, step: number, calls: boolean): Generator<AnySessionEvent> {
    yield this.#event('step/start', { turn, step })
    yield this.#event('request/sent', { turn, step, attempt: 1 })
    const call = calls
      ? { callId: `call-${++this.#calls}`, name: 'read', arguments: { path: `src/${prose(this.#random, 20)}.ts` } }
      : undefined
    const content = yield* this.#answer(turn, step, call?.callId)
    yield this.#event('assistant/message', {
      turn,
      step,
      message: { role: 'assistant', content },
      toolCalls: call === undefined ? [] : [call],
      provider: 'provider-1',
      model: 'model-1',
      usage: { inputTokens: 2000 + this.#calls * 10, outputTokens: content.length >> 2 },
    })
    if (call !== undefined) {
      yield this.#event('tool/call', { turn, step, ...call, effect: 'read-only' })
      this.#time += 40
      const result = prose(this.#random, this.#between(this.#shape.result))
      const message = { role: 'tool', callId: call.callId, content: result }
      yield this.#event('tool/result', { turn, step, callId: call.callId, message })
    }
    yield this.#event('step/end', { turn, step })
  }

  /** Streams reasoning, then text, then the arguments of a call; returns the text. */
  *#answer(turn: number, step: number, callId: string | undefined): Generator<AnySessionEvent, string> {
    const deltas = this.#between(this.#shape.deltas)
    if (deltas === 0) return prose(this.#random, this.#between(this.#shape.answer))
    const reasoning = Math.floor(deltas * 0.4)
    const calling = callId === undefined ? 0 : Math.floor(deltas * 0.3)
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

  #chunk(data: object): AnySessionEvent {
    // Half of the recorded gaps are 0: deltas arrive in bursts, one network packet at a time.
    if (this.#random() < 0.5) this.#time += 10 + Math.floor(this.#random() * 40)
    return this.#event('assistant/chunk', data)
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
  for (let turn = 1; ; turn++) yield* maker.turn(turn)
}
