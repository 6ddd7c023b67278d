/** A harness at work: events at a steady rate, a checkpoint before each request, calls begun before they run. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { AnySessionEvent, ModelContext, Session } from 'session-persistence'
import { deltaLog } from '../input/generated-log.ts'
import { appendEach } from '../scenario/append-inputs.ts'
import { quantile } from '../statistics/estimate.ts'
import type { TurnsAnswer } from './task.ts'

/** Events that are due are appended together every so many milliseconds, as deltas arrive in packets. */
const PACKET_MS = 8
const RESOLUTION_MS = 1
const NS_PER_MS = 1e6

export interface StreamOptions {
  /** Undefined: the same loop without a session, which shows what the loop itself costs. */
  readonly session: Session | undefined
  readonly seconds: number
  readonly eventsPerSecond: number
}

export async function streamTurns({ session, seconds, eventsPerSecond }: StreamOptions): Promise<TurnsAnswer> {
  const harness = new StreamingHarness(session)
  const events = deltaLog.events()[Symbol.iterator]()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  // The first steps compile the code; a harness runs for hours.
  for (let warm = 0; warm < 2000; warm++) await harness.take(events.next().value)
  harness.forget()
  delay.enable()
  const start = performance.now()
  let taken = 0
  while (performance.now() - start < seconds * 1000) {
    const due = ((performance.now() - start) * eventsPerSecond) / 1000
    for (; taken < due; taken++) await harness.take(events.next().value)
    await new Promise((resolve) => setTimeout(resolve, PACKET_MS))
  }
  delay.disable()
  const ms = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS)
  return {
    delayP50: ms(delay.percentile(50)),
    delayP99: ms(delay.percentile(99)),
    delayMax: ms(delay.max),
    ...harness.latencies(),
    events: taken,
  }
}

type Environment = Omit<ModelContext, 'messages'>

/** Keeps the request of its own, as a harness does, so that a checkpoint really compares two things. */
class StreamingHarness {
  readonly #session: Session | undefined
  readonly #messages: unknown[] = []
  #environment: Environment = {}
  #appends: number[] = []
  #checkpoints: number[] = []

  constructor(session: Session | undefined) {
    this.#session = session
  }

  async take(event: AnySessionEvent | undefined): Promise<void> {
    if (event === undefined) return
    const data = event.data as { readonly [key: string]: unknown }
    if (event.type === 'request/header') this.#environment = data as unknown as Environment
    if (event.surface !== undefined) this.#messages.length = 0
    if ('message' in data) this.#messages.push(data.message)
    const session = this.#session
    if (session === undefined) return
    const start = performance.now()
    if (event.type === 'request/sent') {
      await session.checkpoint({ ...this.#environment, messages: this.#messages } as ModelContext)
      this.#checkpoints.push(performance.now() - start)
    } else if (event.type === 'tool/call') {
      await session.beginCall(event.data as never)
      this.#checkpoints.push(performance.now() - start)
    } else {
      appendEach(session, [event])
      this.#appends.push(performance.now() - start)
    }
  }

  forget(): void {
    this.#appends = []
    this.#checkpoints = []
  }

  latencies(): Pick<TurnsAnswer, 'appendP50' | 'appendP99' | 'checkpointP50' | 'checkpointP99'> {
    const of = (samples: readonly number[], share: number): number =>
      samples.length === 0
        ? 0
        : quantile(
            [...samples].sort((a, b) => a - b),
            share,
          )
    return {
      appendP50: of(this.#appends, 0.5),
      appendP99: of(this.#appends, 0.99),
      checkpointP50: of(this.#checkpoints, 0.5),
      checkpointP99: of(this.#checkpoints, 0.99),
    }
  }
}
