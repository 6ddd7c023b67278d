// A model of the log that is as plain as can be: it keeps every event and derives each answer by scanning them all.
import type { AnySessionEvent } from '../../src/event/event.ts'

type Data = { readonly [key: string]: unknown }
type Call = { readonly callId: string; readonly name: string; readonly arguments: unknown }

const MESSAGES = ['user/message', 'assistant/message', 'tool/result']
const BOUNDARIES = ['turn/start', 'turn/end', 'step/start', 'step/end']

const dataOf = (event: AnySessionEvent): Data => event.data as Data
const isAppendedAnswer = (event: AnySessionEvent): boolean =>
  event.type === 'assistant/message' && event.surface === undefined

export class NaiveLog {
  readonly events: AnySessionEvent[] = []

  last(...types: readonly string[]): AnySessionEvent | undefined {
    return this.events.findLast((event) => types.includes(event.type))
  }

  get turns(): number {
    return this.events.filter((event) => event.type === 'turn/start').length
  }

  get openTurn(): number | undefined {
    return this.last('turn/start', 'turn/end')?.type === 'turn/start' ? this.turns : undefined
  }

  get steps(): number {
    const from = this.last('turn/start')?.seq ?? 0
    return this.events.slice(from).filter((event) => event.type === 'step/start').length
  }

  get openStep(): number | undefined {
    return this.last(...BOUNDARIES)?.type === 'step/start' ? this.steps : undefined
  }

  /** Events since the last boundary; outside a step, from the newest answer on. */
  get scope(): AnySessionEvent[] {
    const since = this.events.slice((this.last(...BOUNDARIES)?.seq ?? -1) + 1)
    if (this.openStep !== undefined) return since
    const newest = since.findLastIndex(isAppendedAnswer)
    return newest < 0 ? [] : since.slice(newest)
  }

  get asked(): { readonly call: Call; readonly at: number }[] {
    return this.scope
      .filter(isAppendedAnswer)
      .flatMap((event) => (dataOf(event).toolCalls as Call[]).map((call) => ({ call, at: event.seq })))
  }

  about(type: string, callId: unknown): AnySessionEvent[] {
    return this.scope.filter((event) => event.type === type && dataOf(event).callId === callId)
  }

  isOpen(callId: unknown): boolean {
    const results = this.about('tool/result', callId).filter((event) => event.surface === undefined)
    return this.asked.some(({ call }) => call.callId === callId) && results.length === 0
  }

  get open(): { readonly call: Call; readonly at: number }[] {
    return this.asked.filter(({ call }) => this.isOpen(call.callId))
  }

  get attempt(): number {
    return this.openStep === undefined ? 0 : this.scope.filter((event) => event.type === 'request/sent').length
  }

  get answerStart(): number | undefined {
    if (this.openStep === undefined) return undefined
    const start = this.last('request/sent', 'step/start')
    return start && this.events.slice(start.seq).some(isAppendedAnswer) ? undefined : start?.seq
  }

  get compactionOpen(): boolean {
    return this.last('compaction/start', 'compaction/end')?.type === 'compaction/start'
  }

  live(before: number = this.events.length): AnySessionEvent[] {
    const live: AnySessionEvent[] = []
    for (const event of this.events.slice(0, before)) {
      const at = (seq: unknown): number => live.findIndex((one) => one.seq === seq)
      if (MESSAGES.includes(event.type)) {
        if (event.surface === undefined) live.push(event)
        else {
          const [first, last] = event.surface.replace
          live.splice(at(first), at(last) - at(first) + 1, event)
        }
      } else if (event.type === 'surface/remove') {
        const { start, end } = dataOf(event)
        live.splice(at(start), at(end) - at(start) + 1)
      }
    }
    return live
  }

  messages(before?: number): unknown[] {
    return this.live(before).map((event) => dataOf(event).message)
  }

  context(before: number = this.events.length): Data {
    const header = this.events.slice(0, before).findLast((event) => event.type === 'request/header')
    const { model, config, system, tools } = header === undefined ? ({} as Data) : dataOf(header)
    return { model, config, system, tools, messages: this.messages(before) }
  }

  lastRequest(): Data | undefined {
    const sent = this.last('request/sent')
    const newest = sent ?? this.events.findLast(isAppendedAnswer)
    if (newest === undefined) return undefined
    const attempt = sent === undefined ? undefined : dataOf(sent).attempt
    return { seq: newest.seq, attempt, derived: sent === undefined, context: this.context(newest.seq) }
  }

  /** What the documents say may come next, asked of the whole log. */
  allows(event: AnySessionEvent): boolean {
    const data = dataOf(event)
    const { openTurn, openStep } = this
    const appended = event.surface === undefined
    const exact = data.turn === openTurn && data.step === openStep
    const loose =
      (data.turn === undefined || data.turn === openTurn) && (data.step === undefined || data.step === openStep)
    const isRun = (first: unknown, last: unknown): boolean => {
      const seqs = this.live().map((one) => one.seq)
      return seqs.indexOf(first as number) >= 0 && seqs.indexOf(first as number) <= seqs.indexOf(last as number)
    }
    if (event.sources?.some(([start, end]) => start < 0 || start > end || end >= event.seq)) return false
    if (event.surface !== undefined) {
      if (!MESSAGES.includes(event.type) || !isRun(...event.surface.replace)) return false
    }
    switch (event.type) {
      case 'turn/start':
        return openTurn === undefined && data.turn === this.turns + 1 && this.open.length === 0
      case 'turn/end':
        return openTurn !== undefined && data.turn === openTurn && openStep === undefined && this.open.length === 0
      case 'step/start':
        if (openTurn === undefined || data.turn !== openTurn || openStep !== undefined) return false
        return data.step === this.steps + 1 && this.open.length === 0
      case 'step/end':
        return openStep !== undefined && exact && this.open.length === 0
      case 'user/message':
        return data.turn === openTurn && loose && (!appended || this.open.length === 0)
      case 'assistant/message': {
        const ids = (data.toolCalls as Call[]).map((call) => call.callId)
        const used = openStep === undefined ? [] : this.asked.map(({ call }) => call.callId)
        if (!exact) return false
        return !appended || (this.open.length === 0 && new Set([...used, ...ids]).size === used.length + ids.length)
      }
      case 'tool/result':
        return exact && (!appended || this.isOpen(data.callId))
      case 'tool/call':
        return exact && this.isOpen(data.callId) && this.about('tool/call', data.callId).length === 0
      case 'tool/execution':
        return exact && this.about('tool/call', data.callId).length > 0
      case 'surface/remove':
        return loose && isRun(data.start, data.end)
      case 'request/sent':
        return openStep !== undefined && exact && data.attempt === this.attempt + 1
      case 'assistant/chunk':
        return openStep !== undefined && exact
      case 'compaction/start':
        return loose && !this.compactionOpen
      case 'compaction/end':
        return loose && this.compactionOpen
      case 'request/header':
      case 'request/context':
      case 'todo/write':
        return loose
      default:
        return true
    }
  }
}
